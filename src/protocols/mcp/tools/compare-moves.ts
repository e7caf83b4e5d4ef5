import { errorFromViolations } from "../../../errors/errors.ts";
import type { Plain } from "../../../text/json.ts";
import { numbered } from "../../../text/numbered-moves.ts";
import { wrongType } from "../arguments.ts";
import { evaluate, type PlainEvaluation, type PlainLine, shownScore } from "../evaluation.ts";
import { answerSchema, argument, listOf, nullable, objectSchema, result } from "../schema.ts";
import { describePosition, nameOfSide, notesText, scoreText, textOf, turnOf } from "../text.ts";
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
      loss_cp: nullable({
        ...result.integer,
        description:
          "Centipawns behind the best candidate, for the side to move; null where a mate is involved.",
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
    return answerOf(await evaluate(requestOf(args), caller, report));
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

function answerOf(found: PlainEvaluation): ToolAnswer {
  return found.terminal ? answerOfFinishedGame(found, found.terminal.result) : rankingOf(found);
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

function rankingOf({ fen, search, engine, lines, ...found }: PlainEvaluation): ToolAnswer {
  const [best] = lines;
  if (best === undefined) {
    throw new Error("the search of some moves found no line");
  }
  const warnings = found.warnings.map(({ code, message }) =>
    code === "multipv_reduced" ? "Some candidates are the same move." : message,
  );
  const searched = `depth ${search.depth}, ${engine?.name ?? "engine"}`;
  return {
    text: textOf([
      `Best of these for ${nameOfSide(turnOf(fen))}: ${nameOf(best)}, ${scoreText(best.score)} (${searched}).`,
      lines.map((line) => rowOf(line, best, fen)).join("\n"),
      describePosition(fen),
      notesText(warnings, found.draw_claimable),
    ]),
    structured: {
      fen,
      moves: lines.map((line) => ({
        rank: line.rank,
        san: line.san[0],
        uci: line.moves[0],
        score: shownScore(line.score),
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

function nameOf({ san, moves }: PlainLine): string {
  return `${san[0]} (${moves[0]})`;
}

/** Returns undefined if the scores differ and at least one score is a mate. */
function centipawnLoss({ score }: PlainLine, { score: best }: PlainLine): number | undefined {
  if (score.cp !== null && best.cp !== null) {
    return Math.abs(best.cp - score.cp);
  }
  return score.mate === best.mate ? 0 : undefined;
}

function winPercentLoss({ score }: PlainLine, { score: best }: PlainLine): number {
  return Math.round(Math.abs(best.win_percent - score.win_percent) * 10) / 10;
}

const pliesShown = 8;

function rowOf(line: PlainLine, best: PlainLine, fen: string): string {
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
  return `#${line.rank} ${nameOf(line)}: ${scoreText(line.score)}${behind}. Line: ${played}`;
}
