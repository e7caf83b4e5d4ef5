import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Chess } from "chessops/chess";
import { makeFen } from "chessops/fen";
import type { NormalMove } from "chessops/types";
import { createRandom } from "../../test/support/random.ts";

/** The first moves of random games are soon all known. */
const pliesMin = 8;
const pliesMax = 120;

/**
 * Positions of random games, endlessly many, each with another board than all before: the same ones for the same seed.
 * None is the end of a game.
 */
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

/** More than anybody answers in a second: so many new questions are there for each. */
export function mostPerSecond(depth: number): number {
  return depth < 4 ? 8000 : depth < 10 ? 2500 : 600;
}

/** Where questions come from. Its files are gone with the bench. */
export interface QuestionBook {
  /** Writes so many, a body a line, of positions that were in no file before. Returns the file. */
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
