import { GameService } from "../../../../gen/chess/analysis/v1/game_service_pb.ts";
import type { Plain } from "../../../text/json.ts";
import { numbered } from "../../../text/numbered-moves.ts";
import { playedMovesOf } from "../arguments.ts";
import type { Caller } from "../caller.ts";
import { follow, type QueuedEvent, shownScore } from "../evaluation.ts";
import { answerSchema, argument, listOf, nullable, objectSchema, result } from "../schema.ts";
import {
  describePosition,
  halfMovesText,
  moveText,
  type NamedMove,
  notesText,
  type PlainScore,
  type PlainTablebase,
  scoreText,
  textOf,
  verdictText,
} from "../text.ts";
import type { Report, Tool, ToolAnswer } from "../tool.ts";

const method = GameService.method.reviewGame;

const inputSchema = objectSchema(
  {
    pgn: argument.pgn,
    fen: argument.fen,
    moves: {
      ...argument.moves,
      description: `The game's moves, instead of pgn. ${argument.moves.description}`,
    },
    chess960: argument.chess960,
    depth: { ...argument.depth, description: `${argument.depth.description} It is that of every position.` },
  },
  [],
);

const player = objectSchema({
  accuracy: { type: ["number", "null"], description: "0 to 100." },
  average_centipawn_loss: { type: ["integer", "null"] },
  inaccuracies: result.integer,
  mistakes: result.integer,
  blunders: result.integer,
});

const outputSchema = answerSchema({
  fen: { ...result.text, description: "After the last move." },
  summary: result.text,
  result: {
    type: "string",
    enum: ["1-0", "0-1", "1/2-1/2", "*"],
    description: "By the PGN; where that does not say, by the rules. * is a game that has not ended.",
  },
  opening: nullable(objectSchema({ eco: result.text, name: result.text })),
  players: objectSchema({ white: player, black: player }),
  moves: listOf(
    objectSchema({
      ply: result.integer,
      san: result.text,
      uci: result.text,
      score: { ...result.score, description: "After the move." },
      tablebase: {
        ...result.tablebase,
        description: "The certain result after the move, by endgame tables. The move is judged by it.",
      },
      judgement: { type: ["string", "null"], enum: ["inaccuracy", "mistake", "blunder", null] },
      best: { ...nullable(result.move), description: "What was best instead, of a judged move." },
    }),
  ),
  engine: nullable(result.text),
});

export const reviewGame: Tool = {
  name: "review_game",
  title: "Review a chess game",
  description:
    "Have Stockfish look at every move of a game: accuracy of both players, the opening, and the inaccuracies, mistakes and blunders with what was better. Give the game as pgn, or as its moves. It takes a search for every position: a depth of 10 to 12 is enough for most games.",
  inputSchema,
  outputSchema,
  async call(args, caller, report) {
    return answerOf(await review(args, caller, report));
  },
};

interface PlainReview {
  readonly start_fen: string;
  readonly tags: Readonly<Record<string, string>>;
  readonly engine: { readonly name: string } | null;
  readonly opening: { readonly eco: string; readonly name: string } | null;
  readonly players: { readonly white: PlainPlayer; readonly black: PlainPlayer };
  readonly moves: readonly PlainMove[];
  readonly pgn: string;
  readonly search: { readonly limits: { readonly depth: number | null } };
  readonly warnings: readonly { readonly message: string }[];
  readonly summary: string;
}

interface PlainPlayer {
  readonly accuracy: number | null;
  readonly average_centipawn_loss: number | null;
  readonly inaccuracies: number;
  readonly mistakes: number;
  readonly blunders: number;
}

interface PlainMove {
  readonly ply: number;
  readonly move: NamedMove & { readonly fen_after: string };
  readonly evaluation: PlainScore;
  readonly win_percent_loss: number;
  readonly judgement: "inaccuracy" | "mistake" | "blunder" | null;
  readonly best: { readonly move: NamedMove; readonly score: PlainScore } | null;
  readonly tablebase: PlainTablebase | null;
}

interface ReviewEvent extends QueuedEvent {
  readonly move: PlainMove | null;
  readonly review: PlainReview | null;
}

async function review(request: Plain, caller: Caller, report?: Report): Promise<PlainReview> {
  let found: PlainReview | undefined;
  let total: number | undefined;
  for await (const { move, review } of follow<ReviewEvent>(method, request, caller, report)) {
    if (move && report) {
      // When the first move arrives, the service has already read the game and counted the review.
      total ??= await pliesOf(request, caller);
      const message = `half-move ${move.ply}, ${move.move.san}: ${verdictText(move.evaluation, move.tablebase)}`;
      report({ progress: move.ply, total, message });
    }
    found = review ?? found;
  }
  if (found === undefined) {
    throw new Error("a review ended without its end");
  }
  return found;
}

async function pliesOf(request: Plain, caller: Caller): Promise<number> {
  const { moves } =
    typeof request.pgn === "string" ? await caller.readGameUncounted(request.pgn) : playedMovesOf(request);
  return moves.length;
}

function answerOf(found: PlainReview): ToolAnswer {
  const { moves, players, opening, engine, start_fen: start, search } = found;
  const warnings = found.warnings.map(({ message }) => message);
  const fen = moves.at(-1)?.move.fen_after ?? start;
  const depth = search.limits.depth === null ? "" : `depth ${search.limits.depth}, `;
  return {
    text: textOf([
      [
        titleOf(found),
        found.summary,
        `${depth}${engine?.name ?? "engine"}`,
        opening && `Opening: ${opening.eco} ${opening.name}`,
        playerText("White", players.white),
        playerText("Black", players.black),
      ]
        .filter(Boolean)
        .join("\n"),
      `After the last move: ${describePosition(fen)}`,
      judgedText(moves, start),
      notesText(warnings, undefined),
    ]),
    structured: {
      ...found,
      fen,
      result: resultOf(found),
      moves: moves.map(({ ply, move, evaluation, judgement, best, tablebase }) => ({
        ...move,
        ply,
        score: shownScore(evaluation),
        tablebase,
        judgement,
        best: judgement && best?.move,
      })),
      engine: engine?.name,
      warnings,
    },
  };
}

const nameMaxCharacters = 40;

function titleOf(found: PlainReview): string {
  const { tags, moves } = found;
  const name = (tag: string) => {
    const written = tags[tag]?.trim() ?? "";
    // Programs write `?` for the name of an unknown player.
    return written === "" || written === "?" ? tag : written.slice(0, nameMaxCharacters).toWellFormed();
  };
  return `${name("White")} – ${name("Black")}, ${resultOf(found)}, ${halfMovesText(moves.length)}`;
}

/** Returns the last word of the PGN, because the Result tag can be missing. */
function resultOf({ pgn }: PlainReview): string {
  return /\S+$/.exec(pgn.slice(-16).trimEnd())?.[0] ?? "*";
}

function playerText(side: string, player: PlainPlayer): string {
  const { accuracy, average_centipawn_loss: loss, inaccuracies, mistakes, blunders } = player;
  const parts = [
    accuracy === null ? undefined : `accuracy ${accuracy.toFixed(1)} %`,
    loss === null ? undefined : `average loss ${loss} centipawns`,
    `inaccuracies ${inaccuracies}`,
    `mistakes ${mistakes}`,
    `blunders ${blunders}`,
  ];
  return `${side}: ${parts.filter(Boolean).join(", ")}`;
}

/** The maximum number of judged moves in the text. The worst moves are chosen and listed in the order of the game. */
const judgedMax = 20;

function judgedText(moves: readonly PlainMove[], start: string): string {
  const judged = moves.filter(({ judgement }) => judgement);
  if (judged.length === 0) {
    return "No move was an inaccuracy, a mistake or a blunder.";
  }
  const worst = new Set(
    judged.toSorted((one, other) => other.win_percent_loss - one.win_percent_loss).slice(0, judgedMax),
  );
  const rest = judged.length - worst.size;
  const heading = rest > 0 ? `The worst ${worst.size} of ${judged.length} judged moves:` : "Judged moves:";
  const rows = judged.filter((move) => worst.has(move)).map((move) => judgedRow(move, moves, start));
  return [heading, ...rows].join("\n");
}

function judgedRow(judged: PlainMove, moves: readonly PlainMove[], start: string): string {
  const { ply, move, evaluation, judgement, best, tablebase } = judged;
  const before = moves[ply - 2];
  const fen = before?.move.fen_after ?? start;
  const from = before ? `${verdictText(before.evaluation, before.tablebase)} → ` : "";
  const change = `${from}${verdictText(evaluation, tablebase)}`;
  // The best move keeps the result that the tables know, whatever the engine's score is.
  const score = best && !tablebase && !before?.tablebase ? `, ${scoreText(best.score)}` : "";
  const better = best ? `; best ${moveText(best.move)}${score}` : "";
  return `${numbered(fen, [moveText(move)])}: ${judgement}, ${change}${better}`;
}
