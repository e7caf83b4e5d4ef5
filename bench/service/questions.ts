import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Chess } from "chessops/chess";
import { makeFen } from "chessops/fen";
import type { NormalMove } from "chessops/types";
import { createRandom } from "../../test/support/random.ts";

/** Positions before this ply are skipped, because the same positions occur in many random games. */
const pliesMin = 8;
const pliesMax = 120;

/** Yields different positions that are not the end of a game. The same seed gives the same positions. */
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

/** A rate in requests per second that no compared service reaches. */
export function perSecondMax(depth: number): number {
  return depth < 4 ? 8000 : depth < 10 ? 2500 : 600;
}

export interface QuestionBook {
  /** Writes a file with one request body per line and returns its path. Each file contains new positions. */
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
