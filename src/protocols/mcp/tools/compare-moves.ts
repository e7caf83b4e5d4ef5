import { errorFromFaults } from "../../../errors/errors.ts";
import { argument, readArguments, wrongType } from "../arguments.ts";
import { boardOf, describePosition, nameOfSide, turnOf } from "../board.ts";
import type { Plain } from "../caller.ts";
import {
  evaluate,
  evaluateMethod,
  notesText,
  type PlainEvaluation,
  type PlainLine,
  schema,
  shownScore,
} from "../evaluation.ts";
import { isMate, scoreText, valueFor } from "../score.ts";
import { numbered, textOf } from "../text.ts";
import { listOf, nullable, objectSchema, type Tool, type ToolAnswer } from "../tool.ts";

const candidatesMin = 2;
const candidatesMax = 5;

const inputSchema = objectSchema(
  {
    fen: argument.fen,
    moves: argument.moves,
    candidates: {
      type: "array",
      items: { type: "string", minLength: 1, maxLength: 16 },
      minItems: candidatesMin,
      maxItems: candidatesMax,
      description: `The legal moves to compare, ${candidatesMin} to ${candidatesMax}, SAN (Nf3) or UCI (g1f3).`,
    },
    depth: argument.depth,
  },
  ["fen", "moves", "depth"],
);

const outputSchema = objectSchema({
  fen: schema.fen,
  turn: schema.side,
  board: schema.board,
  moves: listOf(
    objectSchema({
      rank: schema.integer,
      san: schema.text,
      uci: schema.text,
      score: schema.score,
      loss_cp: nullable({
        ...schema.integer,
        description:
          "Centipawns behind the best candidate, for the side to move; null where a mate is involved.",
      }),
      win_percent_loss: {
        ...schema.number,
        description: "Points of winning chances behind the best candidate, for the side to move.",
      },
      line: listOf(schema.text),
    }),
  ),
  depth: schema.integer,
  engine: nullable(schema.text),
  warnings: schema.warnings,
});

/** A comparison of some moves, all searched to the same depth. */
export const compareMoves: Tool = {
  name: "compare_moves",
  title: "Compare chess moves",
  description:
    "Have Stockfish search a few candidate moves of one position to the same depth, and rank them: the score of each, and how much worse it is than the best of them. Use analyze_position to find the best move of all.",
  inputSchema,
  outputSchema,
  async call(args, caller, report) {
    return answerOf(await evaluate(requestOf(args), caller, report));
  },
  async judge(args, caller) {
    await caller.judge(evaluateMethod, requestOf(args));
  },
  argumentsOf({ search_moves: named, multipv, ...request }) {
    const candidates = Array.isArray(named) ? named.slice(0, Number(multipv)) : [];
    return candidates.length < candidatesMin ? undefined : { ...request, candidates };
  },
  without({ candidates, ...args }, pointers) {
    const left = Array.isArray(candidates)
      ? candidates.filter((_, index) => !pointers.includes(`/search_moves/${index}`))
      : [];
    return left.length < candidatesMin ? undefined : { ...args, candidates: left };
  },
};

function requestOf(sent: Plain): Plain {
  const { candidates, ...args } = readArguments(sent, inputSchema);
  const count = Array.isArray(candidates) ? candidates.length : 0;
  const must = `must be a list of ${candidatesMin} to ${candidatesMax} moves`;
  if (!Array.isArray(candidates)) {
    throw wrongType("candidates", must, candidates);
  }
  if (count < candidatesMin || count > candidatesMax) {
    const message = `\`candidates\` ${must}, and has ${count}.`;
    throw errorFromFaults([{ pointer: "/candidates", code: "out_of_range", message }]);
  }
  return { ...args, fen: args.fen ?? "startpos", search_moves: candidates, multipv: count };
}

interface Compared extends PlainLine {
  readonly name: string;
  /** Undefined if a mate is involved. */
  readonly lossCp: number | undefined;
  readonly winPercentLoss: number;
}

function answerOf(found: PlainEvaluation): ToolAnswer {
  const { fen, search, engine } = found;
  const turn = turnOf(fen);
  const compared = compare(found, turn);
  const warnings = found.warnings.map(({ code, message }) =>
    code === "multipv_reduced" ? "Some candidates are the same move." : message,
  );
  const [best] = compared;
  return {
    text: textOf([
      best &&
        `Best of these for ${nameOfSide(turn)}: ${best.name}, ${scoreText(best.score)} (depth ${search.depth}, ${engine?.name ?? "engine"}).`,
      compared.map((move) => rowOf(move, best, fen)).join("\n"),
      describePosition(fen),
      notesText(warnings, found.draw_claimable),
    ]),
    structured: {
      fen,
      turn,
      board: boardOf(fen),
      moves: compared.map(({ rank, san, moves, score, lossCp, winPercentLoss }) => ({
        rank,
        san: san[0] ?? "",
        uci: moves[0] ?? "",
        score: shownScore(score),
        loss_cp: lossCp ?? null,
        win_percent_loss: winPercentLoss,
        line: san,
      })),
      depth: search.depth,
      engine: engine?.name ?? null,
      warnings,
    },
  };
}

/** Ranks the lines by their value for the side to move. */
function compare({ lines }: PlainEvaluation, turn: "white" | "black"): readonly Compared[] {
  const chances = (line: PlainLine) =>
    turn === "white" ? line.score.win_percent : 100 - line.score.win_percent;
  const ranked = lines.toSorted((one, other) => valueFor(turn, other.score) - valueFor(turn, one.score));
  const [best] = ranked;
  return ranked.map((line, index) => {
    const [own, most] = [valueFor(turn, line.score), best ? valueFor(turn, best.score) : 0];
    return {
      ...line,
      rank: index + 1,
      name: `${line.san[0]} (${line.moves[0]})`,
      lossCp: isMate(own) || isMate(most) ? (own === most ? 0 : undefined) : most - own,
      winPercentLoss: best ? Math.max(0, Math.round((chances(best) - chances(line)) * 10) / 10) : 0,
    };
  });
}

/** Most plies of a line in the text. */
const pliesShown = 8;

function rowOf(move: Compared, best: Compared | undefined, fen: string): string {
  const { rank, name, score, lossCp, winPercentLoss, san } = move;
  const points = winPercentLoss.toFixed(1);
  const behind =
    move === best
      ? ""
      : lossCp === undefined
        ? `; ${points} points of winning chances worse`
        : lossCp === 0
          ? "; as good"
          : `; loses ${(lossCp / 100).toFixed(2)} pawns and ${points} points of winning chances`;
  return `#${rank} ${name}: ${scoreText(score)}${behind}. Line: ${numbered(fen, san.slice(0, pliesShown))}`;
}
