import { AnalysisService } from "../../../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { errorFromViolations, KibitzError } from "../../../errors/errors.ts";
import type { Plain } from "../../../text/json.ts";
import { numbered } from "../../../text/numbered-moves.ts";
import { wrongType } from "../arguments.ts";
import type { Caller } from "../caller.ts";
import { evaluate, type PlainEvaluation, type PlainLine, shownScore } from "../evaluation.ts";
import { answerSchema, argument, listOf, nullable, objectSchema, result } from "../schema.ts";
import {
  describePosition,
  nameOfSide,
  notesText,
  type PlainTablebase,
  textOf,
  turnOf,
  verdictText,
} from "../text.ts";
import type { Tool, ToolAnswer } from "../tool.ts";

const candidatesMin = 2;
const candidatesMax = 5;

const inputSchema = objectSchema(
  {
    fen: argument.fen,
    moves: argument.moves,
    chess960: argument.chess960,
    candidates: {
      type: "array",
      items: argument.moves.items,
      minItems: candidatesMin,
      maxItems: candidatesMax,
      description: `The legal moves to compare, ${candidatesMin} to ${candidatesMax}, SAN (Nf3) or UCI (g1f3).`,
    },
    depth: argument.depth,
  },
  ["candidates"],
);

const outputSchema = answerSchema({
  moves: listOf(
    objectSchema({
      rank: result.integer,
      san: result.text,
      uci: result.text,
      score: result.score,
      tablebase: {
        ...result.tablebaseAfter,
        description: "The certain result after the move, by endgame tables. The moves are ranked by it.",
      },
      loss_cp: nullable({
        ...result.integer,
        description:
          "Centipawns behind the best candidate, for the side to move; null where a mate or a certain result is involved.",
      }),
      win_percent_loss: {
        type: "number",
        description: "Points of winning chances behind the best candidate, for the side to move.",
      },
      line: listOf(result.text),
    }),
  ),
  game_over: result.gameOver,
  depth: result.integer,
  engine: nullable(result.text),
});

export const compareMoves: Tool = {
  name: "compare_moves",
  title: "Compare chess moves",
  description:
    "Have Stockfish search a few candidate moves of one position to the same depth, and rank them: the score of each, and how much worse it is than the best of them. Use analyze_position to find the best move of all.",
  inputSchema,
  outputSchema,
  async call(args, caller, report) {
    const found = await evaluate(requestOf(args), caller, report);
    return found.terminal
      ? answerOfFinishedGame(found, found.terminal.result)
      : rankingOf(found, await candidatesOf(found, caller));
  },
  argumentsOf({ search_moves: named, multipv, ...request }) {
    const candidates = Array.isArray(named) ? named.slice(0, Number(multipv)) : [];
    return candidates.length < candidatesMin ? undefined : { ...request, candidates };
  },
};

function requestOf({ candidates, ...args }: Plain): Plain {
  const count = Array.isArray(candidates) ? candidates.length : 0;
  const must = `must be a list of ${candidatesMin} to ${candidatesMax} moves`;
  if (!Array.isArray(candidates)) {
    throw wrongType("candidates", must, candidates);
  }
  if (count < candidatesMin || count > candidatesMax) {
    const message = `\`candidates\` ${must}, and has ${count}.`;
    throw errorFromViolations([{ pointer: "/candidates", code: "out_of_range", message }]);
  }
  return { ...args, fen: args.fen ?? "startpos", search_moves: candidates, multipv: count };
}

/** A finished game is not searched. The rules can end a game as a draw although the side to move has legal moves. */
function answerOfFinishedGame(found: PlainEvaluation, finalResult: string): ToolAnswer {
  const { fen, summary, terminal, search } = found;
  const warnings = found.warnings.map(({ message }) => message);
  return {
    text: textOf([
      `Game over: ${summary} Result: ${finalResult}. No candidate changes this result.`,
      describePosition(fen),
      notesText(warnings, undefined),
    ]),
    structured: { fen, moves: [], game_over: terminal, depth: search.depth, engine: undefined, warnings },
  };
}

interface Candidate extends Omit<PlainLine, "rank"> {
  /** After the move. */
  readonly tablebase: PlainTablebase | undefined;
}

/** Returns the best candidate first. If endgame tables know the position, they rank the candidates, and the engine does not. */
async function candidatesOf(found: PlainEvaluation, caller: Caller): Promise<readonly Candidate[]> {
  const { lines, tablebase, best_move: best } = found;
  const known = tablebase ? await tableMovesOf(found.fen, caller) : [];
  if (known.length === 0) {
    return lines.map((line) => ({ ...line, tablebase: undefined }));
  }
  const placeOf = ({ moves: [uci] }: Candidate) =>
    // The tables do not know which moves repeat a position of the game, but the best move heeds it.
    uci === best?.uci ? -1 : known.findIndex((move) => move.uci === uci);
  return lines
    .map((line) => {
      const after = known.find(({ uci }) => uci === line.moves[0]);
      return after === undefined ? { ...line, tablebase: undefined } : withResult(line, after, found.fen);
    })
    .toSorted((one, other) => placeOf(one) - placeOf(other));
}

interface PlainTableMove extends Pick<PlainTablebase, "category" | "dtz_plies"> {
  readonly uci: string;
}

/** The engine has searched the candidates, so it ranks them if the tables cannot. */
const withoutTables: ReadonlySet<KibitzError["code"]> = new Set(["not_in_tablebase", "starting"]);

/** Returns all legal moves, the best first. Returns no move if a table that a move leads to is missing, or is being verified. */
async function tableMovesOf(fen: string, caller: Caller): Promise<readonly PlainTableMove[]> {
  try {
    const answer = await caller.once(AnalysisService.method.probeTablebase, { fen });
    return (answer as { readonly moves: readonly PlainTableMove[] }).moves;
  } catch (error) {
    if (error instanceof KibitzError && withoutTables.has(error.code)) {
      return [];
    }
    throw error;
  }
}

function withResult(line: PlainLine, { category, dtz_plies }: PlainTableMove, fen: string): Candidate {
  const mover = turnOf(fen);
  const opponent = mover === "white" ? "black" : "white";
  const winner = category === "loss" ? mover : category === "win" ? opponent : null;
  const win_percent = winner === null ? 50 : winner === "white" ? 100 : 0;
  return {
    ...line,
    score: { ...line.score, win_percent },
    tablebase: { category, winner, dtz_plies },
  };
}

function rankingOf(found: PlainEvaluation, candidates: readonly Candidate[]): ToolAnswer {
  const { fen, search, engine, tablebase: known } = found;
  const [best] = candidates;
  if (best === undefined) {
    throw new Error("the search of some moves found no line");
  }
  const warnings = found.warnings.map(({ code, message }) =>
    code === "multipv_reduced" ? "Some candidates are the same move." : message,
  );
  const searched = `depth ${search.depth}, ${engine?.name ?? "engine"}`;
  return {
    text: textOf([
      known ? `${verdictText(found.score, known)}.` : undefined,
      `Best of these for ${nameOfSide(turnOf(fen))}: ${nameOf(best)}, ${verdictText(best.score, best.tablebase)} (${searched}).`,
      candidates.map((line, index) => `#${index + 1} ${rowOf(line, best, fen)}`).join("\n"),
      describePosition(fen),
      notesText(warnings, found.draw_claimable),
    ]),
    structured: {
      fen,
      moves: candidates.map((line, index) => ({
        rank: index + 1,
        san: line.san[0],
        uci: line.moves[0],
        score: shownScore(line.score),
        tablebase: line.tablebase,
        loss_cp: centipawnLoss(line, best),
        win_percent_loss: winPercentLoss(line, best),
        line: line.san,
      })),
      game_over: undefined,
      depth: search.depth,
      engine: engine?.name,
      warnings,
    },
  };
}

function nameOf({ san, moves }: Candidate): string {
  return `${san[0]} (${moves[0]})`;
}

/** Returns undefined if the results or the scores differ, and at least one of them is certain. */
function centipawnLoss({ score, tablebase }: Candidate, best: Candidate): number | undefined {
  if (tablebase || best.tablebase) {
    return tablebase?.winner === best.tablebase?.winner ? 0 : undefined;
  }
  if (score.cp !== null && best.score.cp !== null) {
    return Math.abs(best.score.cp - score.cp);
  }
  return score.mate === best.score.mate ? 0 : undefined;
}

function winPercentLoss({ score }: Candidate, { score: best }: Candidate): number {
  return Math.round(Math.abs(best.win_percent - score.win_percent) * 10) / 10;
}

const pliesShown = 8;

function rowOf(line: Candidate, best: Candidate, fen: string): string {
  const loss = centipawnLoss(line, best);
  const points = `${winPercentLoss(line, best).toFixed(1)} points of winning chances`;
  const behind =
    line === best
      ? ""
      : loss === undefined
        ? `; ${points} worse`
        : loss === 0
          ? "; as good"
          : `; loses ${(loss / 100).toFixed(2)} pawns and ${points}`;
  const played = numbered(fen, line.san.slice(0, pliesShown));
  return `${nameOf(line)}: ${verdictText(line.score, line.tablebase)}${behind}. Line: ${played}`;
}
