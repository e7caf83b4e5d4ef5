import { numbered } from "../../../text/numbered-moves.ts";
import { readGameArguments } from "../arguments.ts";
import { evaluate, type PlainEvaluation, type PlainLine, shownScore } from "../evaluation.ts";
import { answerSchema, argument, boundsOf, listOf, nullable, objectSchema, result } from "../schema.ts";
import {
  describePosition,
  halfMovesText,
  moveText,
  notesText,
  type PlainTablebase,
  scoreText,
  textOf,
  verdictText,
} from "../text.ts";
import type { Tool, ToolAnswer } from "../tool.ts";

const inputSchema = objectSchema(
  {
    fen: argument.fen,
    moves: argument.moves,
    chess960: argument.chess960,
    pgn: argument.pgn,
    ply: {
      type: "integer",
      minimum: 0,
      maximum: argument.moves.maxItems,
      description:
        "With pgn: the position after so many half-moves; 0 is before the first. By default the end of the game.",
    },
    depth: argument.depth,
    nodes: {
      type: "integer",
      ...boundsOf("nodes"),
      description: "End the search after so many positions; then depth limits only if it is given.",
    },
    multipv: {
      type: "integer",
      ...boundsOf("multipv"),
      default: 1,
      description: "How many of the best moves to show, each with its line.",
    },
    engine: {
      type: "string",
      maxLength: 64,
      default: "latest",
      description: "An engine id of GET /engines; leave it out for the best.",
    },
  },
  [],
);

const outputSchema = answerSchema({
  summary: result.text,
  score: { ...result.score, description: "The engine's, but for win_percent where tablebase is set." },
  tablebase: { ...result.tablebase, description: "The certain result of an endgame with few men." },
  best_move: nullable(result.move),
  lines: listOf(
    objectSchema({
      rank: result.integer,
      score: result.score,
      san: listOf(result.text),
      uci: listOf(result.text),
    }),
  ),
  game_over: result.gameOver,
  draw_claimable: nullable(result.text),
  depth: result.integer,
  nodes: result.integer,
  engine: nullable(result.text),
});

export const analyzePosition: Tool = {
  name: "analyze_position",
  title: "Analyze a chess position",
  description:
    'Ask Stockfish about a position: who is better and by how much, the best move, and the lines behind it. Give the position as a start and the moves from there (moves: ["e4", "e5"]), or as pgn with ply. Scores name their side.',
  inputSchema,
  outputSchema,
  async call(args, caller, report) {
    const { warnings = [], ...game } = (await readGameArguments(args, caller)) ?? {};
    const { pgn: _pgn, ply: _ply, ...rest } = args;
    const request = { ...rest, fen: rest.fen ?? "startpos", ...game };
    return answerOf(await evaluate(request, caller, report), warnings);
  },
};

function answerOf(found: PlainEvaluation, pgnWarnings: readonly string[]): ToolAnswer {
  const { fen, lines, terminal, draw_claimable: claim, search, engine } = found;
  const warnings = [...pgnWarnings, ...found.warnings.map(({ message }) => message)];
  return {
    text: textOf([
      terminal ? `Game over: ${found.summary} Result: ${terminal.result}.` : verdictOf(found),
      describePosition(fen),
      lines.length > 0 ? linesText(found) : undefined,
      notesText(warnings, claim),
    ]),
    structured: {
      ...found,
      score: shownScore(found.score),
      lines: lines.map((line) => ({ ...line, score: shownScore(line.score), uci: line.moves })),
      game_over: terminal,
      depth: search.depth,
      nodes: search.nodes,
      engine: engine?.name,
      warnings,
    },
  };
}

function verdictOf({ score, best_move: best, tablebase }: PlainEvaluation): string {
  const verdict = tablebase
    ? [verdictText(score, tablebase), ...distanceOf(tablebase), `the engine says ${scoreText(score)}`].join(
        "; ",
      )
    : `${scoreText(score)} (White's winning chances ${score.win_percent} %)`;
  return `${verdict}.${best ? ` Best move: ${moveText(best)}.` : ""}`;
}

function distanceOf({ dtz_plies: plies }: PlainTablebase): readonly string[] {
  return plies === null ? [] : [`about ${halfMovesText(plies)} to the next capture, pawn move or mate`];
}

const pliesShown = (lines: number) => (lines > 4 ? 6 : 10);

function linesText({ fen, lines, search, engine }: PlainEvaluation): string {
  const plies = pliesShown(lines.length);
  const rows = lines.map((line) => lineText(fen, line, plies));
  return [`Best play, depth ${search.depth}, ${engine?.name ?? "engine"}:`, ...rows].join("\n");
}

function lineText(fen: string, { rank, score, san, moves }: PlainLine, plies: number): string {
  const more = san.length > plies ? " …" : "";
  const played = numbered(fen, san.slice(0, plies));
  return `#${rank} ${scoreText(score)}: ${played}${more} [${moves.slice(0, plies).join(" ")}${more}]`;
}
