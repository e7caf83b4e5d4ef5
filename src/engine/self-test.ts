import { judgePosition } from "../chess/judge-position.ts";
import type { Position } from "../chess/position.ts";
import type { EngineSession, SearchDone } from "./engine.ts";

// A mate in two that every Stockfish sees by depth 14, and a middle game with many branches.
const mateInTwo = "7k/8/8/8/8/8/R7/1R4K1 w - - 0 1";
const middleGame = "r1bqkb1r/pp3ppp/2n1pn2/2pp4/3P4/2PBPN2/PP3PPP/RNBQK2R w KQkq - 0 6";

/**
 * Whether an engine can be trusted with callers: it finds a mate in two, and the same search twice
 * visits the same nodes, if it has one thread.
 *
 * @returns how many those are; undefined with more threads, where no two searches are alike.
 * @throws Error that says what it did instead.
 */
export async function selfTest(
  session: EngineSession,
  threads: number,
  signal: AbortSignal,
): Promise<number | undefined> {
  const mate = await search(session, positionOf(mateInTwo), 14, signal);
  const value = mate.snapshot.lines[0]?.score.value;
  if (value?.kind !== "mate" || value.mate !== 2) {
    throw new Error(`it does not see the mate in two of ${mateInTwo}`);
  }
  const [first, second] = [
    await search(session, positionOf(middleGame), 8, signal),
    await search(session, positionOf(middleGame), 8, signal),
  ];
  if (threads > 1) {
    return undefined;
  }
  const nodes = [first, second].map(({ snapshot }) => snapshot.counters.nodes);
  if (nodes[0] !== nodes[1]) {
    throw new Error(`the same search visited ${nodes.join(" and ")} nodes`);
  }
  return nodes[0];
}

function positionOf(fen: string): Position {
  const judgement = judgePosition({ fen, moves: [], chess960: false });
  if (judgement.kind === "faults") {
    throw new Error(`the self-test has a bad position: ${fen}`);
  }
  return judgement.position;
}

function search(
  session: EngineSession,
  position: Position,
  depth: number,
  signal: AbortSignal,
): Promise<SearchDone> {
  const limits = { depth, nodes: undefined, movetimeMs: 10_000, hashMb: session.hashMb };
  const job = { ...limits, position, multipv: 1, searchMoves: [], options: {} };
  return session.search(job, signal);
}
