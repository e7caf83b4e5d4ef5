import { judgePosition } from "../chess/judge-position.ts";
import type { Position } from "../chess/position.ts";
import type { SearchDone, SearchJob } from "./engine.ts";

// A mate in two that every Stockfish sees by depth 14, and a middle game with many branches.
const mateInTwo = "7k/8/8/8/8/8/R7/1R4K1 w - - 0 1";
const middleGame = "r1bqkb1r/pp3ppp/2n1pn2/2pp4/3P4/2PBPN2/PP3PPP/RNBQK2R w KQkq - 0 6";

/** An engine that is tested. */
interface Tested {
  /** MiB of its hash table. */
  readonly hashMb: number;
  search(job: SearchJob, signal: AbortSignal): Promise<SearchDone>;
}

/**
 * Whether an engine can be trusted with callers: it finds a mate in two, and the same search twice
 * visits the same nodes, if it has one thread.
 *
 * @returns how many those are; undefined with more threads, where no two searches are alike.
 * @throws Error that says what it did instead.
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

/** How long an engine is watched for its speed, in milliseconds: long enough for a processor to be at its usual pace. */
const speedMs = 1000;

/** Nodes a second that an engine visits. */
export async function speedTest({ search, hashMb }: Tested, signal: AbortSignal): Promise<number> {
  const limits = { depth: undefined, nodes: undefined, movetimeMs: speedMs, hashMb };
  const job = { ...limits, position: positionOf(middleGame), multipv: 1, searchMoves: [], options: {} };
  const { nodes, timeMs } = (await search(job, signal)).snapshot.counters;
  return Math.round((nodes / Math.max(1, timeMs)) * 1000);
}

function positionOf(fen: string): Position {
  const judgement = judgePosition({ fen, moves: [], chess960: false });
  if (judgement.kind === "faults") {
    throw new Error(`the self-test has a bad position: ${fen}`);
  }
  return judgement.position;
}

function search(
  session: Tested,
  position: Position,
  depth: number,
  signal: AbortSignal,
): Promise<SearchDone> {
  const limits = { depth, nodes: undefined, movetimeMs: 10_000, hashMb: session.hashMb };
  const job = { ...limits, position, multipv: 1, searchMoves: [], options: {} };
  return session.search(job, signal);
}
