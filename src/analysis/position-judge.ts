import { LRUCache } from "lru-cache";
import { judgePosition, maxFenCharacters } from "../chess/judge-position.ts";
import type { Judgement, PositionInput } from "../chess/position.ts";

/** `judgePosition`, or something that comes to the same. */
export type PositionJudge = (input: PositionInput) => Judgement;

/** A few hundred bytes each: the positions that a page of games asks for again and again. */
const positionsMax = 1000;

/**
 * Judges positions and remembers the last ones: reading a FEN and finding its legal moves costs more than all
 * the rest of a cached answer. A position never changes, so the same one serves many requests. With moves there
 * is no text short enough to remember it by, and a fault is not worth remembering.
 */
export function createPositionJudge(): PositionJudge {
  const remembered = new LRUCache<string, Judgement>({ max: positionsMax });
  return (input) => {
    const { fen, moves, chess960 } = input;
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
      remembered.set(key, judgement);
    }
    return judgement;
  };
}
