import { LRUCache } from "lru-cache";
import {
  judgePosition,
  judgePositionInPieces,
  maxFenCharacters,
  movesAtOnce,
} from "../chess/judge-position.ts";
import type { Judgement, PositionInput } from "../chess/position.ts";
import { type BeginWork, inTurns } from "../thread/time-slicer.ts";

/**
 * `judgePosition`, or something that comes to the same. A long game is judged in slices of the thread, with a promise.
 *
 * @param check as in {@link BeginWork}
 */
export type PositionCache = (input: PositionInput, check?: () => void) => Judgement | Promise<Judgement>;

/** Some thousand bytes each: the positions that a page of games asks for again and again. */
const positionsMax = 1000;
/** Positions that were asked for once, by their text alone. */
const newPositionsMax = 1000;

/** Some kilobytes each: those of requests that are being answered, which may be judged up to four times. */
const gamesMax = 16;

/**
 * Judges positions and remembers the last ones: reading a FEN and finding its legal moves costs more than all
 * the rest of a cached answer, and playing a long game a hundred times as much. A position never changes, so the same
 * one serves many requests. A fault is not worth remembering. Nor is a position before it is asked for the second time:
 * most never are, and what lives so long and is then forgotten is the most expensive garbage.
 */
export function createPositionCache(beginWork: BeginWork): PositionCache {
  const remembered = new LRUCache<string, Judgement>({ max: positionsMax });
  const askedOnce = new LRUCache<string, true>({ max: newPositionsMax });
  const games = new LRUCache<string, Judgement>({ max: gamesMax });

  async function judgeGame(input: PositionInput, check: (() => void) | undefined): Promise<Judgement> {
    const { fen, moves, chess960 } = input;
    const key = [chess960, fen, ...moves].join("\n");
    const known = games.get(key);
    if (known) {
      return known;
    }
    const judgement = await inTurns(judgePositionInPieces(input), beginWork(check));
    if (judgement.kind === "position") {
      games.set(key, judgement);
    }
    return judgement;
  }

  return (input, check) => {
    const { fen, moves, chess960 } = input;
    if (moves.length > movesAtOnce) {
      return judgeGame(input, check);
    }
    if (moves.length > 0 || fen.length > maxFenCharacters) {
      return judgePosition(input);
    }
    // First the variant: the text is the caller's, and may be anything.
    const key = `${chess960}${fen}`;
    const known = remembered.get(key);
    if (known) {
      return known;
    }
    const judgement = judgePosition(input);
    if (judgement.kind === "position") {
      if (askedOnce.delete(key)) {
        remembered.set(key, judgement);
      } else {
        askedOnce.set(key, true);
      }
    }
    return judgement;
  };
}
