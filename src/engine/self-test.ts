import { isDeepStrictEqual } from "node:util";
import type { Position } from "../chess/position.ts";
import { validatePosition } from "../chess/validate-position.ts";
import type { EngineSession, SearchDone } from "./engine.ts";
import type { EngineProfile, SearchLimit } from "./profiles.ts";

const mateInTwo = "7k/8/8/8/8/8/R7/1R4K1 w - - 0 1";
/** A position with many moves. The number of nodes of a search in this position identifies an engine. */
export const middleGame = "r1bqkb1r/pp3ppp/2n1pn2/2pp4/3P4/2PBPN2/PP3PPP/RNBQK2R w KQkq - 0 6";

type Tested = Pick<EngineSession, "search">;

/**
 * Throws if the engine answers an illegal move or no move, or does not find a mate in two that its family finds.
 * Returns the nodes of a search, or undefined if the engine is not reproducible: if two equal searches differ, if the engine has
 * several threads, or if its family promises no equal results.
 */
export async function selfTest(
  session: Tested,
  { isReproducible, selfTest: { mate, limit } }: EngineProfile,
  threads: number,
  signal: AbortSignal,
): Promise<number | undefined> {
  const mating = await search(session, positionOf(mateInTwo), mate ?? limit, signal);
  const value = mating.snapshot.lines[0]?.score.value;
  if (mate !== undefined && (value?.kind !== "mate" || value.mate !== 2)) {
    throw new Error(`it does not see the mate in two of ${mateInTwo}`);
  }
  const first = await search(session, positionOf(middleGame), limit, signal);
  if (!isReproducible || threads !== 1) {
    return undefined;
  }
  const second = await search(session, positionOf(middleGame), limit, signal);
  return isDeepStrictEqual(resultOf(first), resultOf(second)) ? first.snapshot.counters.nodes : undefined;
}

function resultOf({ bestMove, ponder, endedBy, snapshot }: SearchDone) {
  return { bestMove, ponder, endedBy, lines: snapshot.lines, nodes: snapshot.counters.nodes };
}

function positionOf(fen: string): Position {
  const validation = validatePosition({ fen, moves: [], chess960: false });
  if (validation.kind === "violations") {
    throw new Error(`the self-test has a bad position: ${fen}`);
  }
  return validation.position;
}

function search(
  session: Tested,
  position: Position,
  limit: SearchLimit,
  signal: AbortSignal,
): Promise<SearchDone> {
  const job = { ...limit, movetimeMs: 10_000, position, multipv: 1, searchMoves: [], options: {} };
  return session.search(job, signal);
}
