import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Chess } from "chessops/chess";
import { makeFen } from "chessops/fen";
import type { NormalMove } from "chessops/types";
import { createRandom } from "../../test/support/random.ts";

/** The first ply of a random game whose position is a question. Before it, random games have few different positions. */
const pliesMin = 8;
const pliesMax = 120;

/** Positions of random games, without end. Each has a new board; none ends its game. The same seed gives the same positions. */
export function* newPositions(seed: number): Generator<string, never> {
  const random = createRandom(seed);
  const seen = new Set<string>();
  for (;;) {
    const game = Chess.default();
    for (let ply = 1; ply <= pliesMax && !game.isEnd(); ply++) {
      const moves = [...game.allDests()].flatMap(([from, dests]) => [...dests].map((to) => ({ from, to })));
      game.play(queened(game, random.pick(moves)));
      const fen = makeFen(game.toSetup());
      const [board = ""] = fen.split(" ");
      if (ply >= pliesMin && !game.isEnd() && !seen.has(board)) {
        seen.add(board);
        yield fen;
      }
    }
  }
}

function queened(game: Chess, move: NormalMove): NormalMove {
  const promotes = game.board.pawn.has(move.from) && (move.to < 8 || move.to >= 56);
  return promotes ? { ...move, promotion: "queen" } : move;
}

/** Returns a number of questions that is larger than any peer answers in a second, so that new questions never run out. */
export function mostPerSecond(depth: number): number {
  return depth < 4 ? 8000 : depth < 10 ? 2500 : 600;
}

/** The files of questions are deleted when the bench ends. */
export interface QuestionBook {
  /** Writes `count` request bodies, one on each line, with positions that no file had before. Returns the path. */
  write(count: number, bodyOf: (nextFen: () => string) => object): string;
  nextFen(): string;
}

export function createQuestionBook(folder: string, seed = 1): QuestionBook {
  const positions = newPositions(seed);
  let files = 0;
  const nextFen = () => positions.next().value;
  return {
    nextFen,
    write(count, bodyOf) {
      const file = join(folder, `questions-${files++}.jsonl`);
      const lines = Array.from({ length: count }, () => JSON.stringify(bodyOf(nextFen)));
      writeFileSync(file, lines.join("\n"));
      return file;
    },
  };
}
