import { isDeepStrictEqual } from "node:util";
import type { Position } from "../chess/position.ts";
import { validatePosition } from "../chess/validate-position.ts";
import type { EngineSession, SearchDone } from "./engine.ts";

// Every Stockfish finds the mate in two by depth 14. The other position is a middlegame with many moves.
const mateInTwo = "7k/8/8/8/8/8/R7/1R4K1 w - - 0 1";
const middleGame = "r1bqkb1r/pp3ppp/2n1pn2/2pp4/3P4/2PBPN2/PP3PPP/RNBQK2R w KQkq - 0 6";

type Tested = Pick<EngineSession, "search">;

/**
 * Throws if the engine does not find a mate in two. Returns the nodes of a search, or undefined if two equal searches differ.
 */
export async function selfTest(
  session: Tested,
  threads: number,
  signal: AbortSignal,
): Promise<number | undefined> {
  const mate = await search(session, positionOf(mateInTwo), 14, signal);
  const value = mate.snapshot.lines[0]?.score.value;
  if (value?.kind !== "mate" || value.mate !== 2) {
    throw new Error(`it does not see the mate in two of ${mateInTwo}`);
  }
  const first = await search(session, positionOf(middleGame), 8, signal);
  const second = await search(session, positionOf(middleGame), 8, signal);
  const isReproducible = threads === 1 && isDeepStrictEqual(resultOf(first), resultOf(second));
  return isReproducible ? first.snapshot.counters.nodes : undefined;
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
  depth: number,
  signal: AbortSignal,
): Promise<SearchDone> {
  const limits = { depth, nodes: undefined, movetimeMs: 10_000 };
  const job = { ...limits, position, multipv: 1, searchMoves: [], options: {} };
  return session.search(job, signal);
}
