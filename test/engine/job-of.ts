import type {
  EngineSession,
  OnProgress,
  SearchDone,
  SearchEvent,
  SearchJob,
  SearchProgress,
} from "../../src/engine/engine.ts";
import { positionOf, startFen } from "../chess/validated.ts";

interface JobFields extends Partial<Omit<SearchJob, "position">> {
  readonly fen?: string;
  readonly moves?: readonly string[];
  readonly chess960?: boolean;
}

export function jobOf({
  fen = startFen,
  moves = [],
  chess960 = false,
  ...fields
}: JobFields = {}): SearchJob {
  const position = positionOf(fen, { moves, chess960 });
  const limits = { depth: 14, nodes: undefined, movetimeMs: 60_000 };
  return { position, ...limits, multipv: 1, searchMoves: [], options: {}, ...fields };
}

/** Runs a search and returns all its events. The last event has the result. */
export async function eventsOf(
  session: EngineSession,
  job: SearchJob,
  signal: AbortSignal,
): Promise<readonly SearchEvent[]> {
  const events: SearchEvent[] = [];
  const done = await session.search(job, signal, (progress) => events.push(progress));
  return [...events, done];
}

/** Begins a search, and waits for the first snapshot or for the end of the search. */
export async function underWay(
  begin: (onProgress: OnProgress) => Promise<SearchDone>,
): Promise<{ readonly answer: Promise<SearchDone> }> {
  const first = Promise.withResolvers<SearchProgress>();
  const answer = begin(first.resolve);
  await Promise.race([first.promise, answer]);
  return { answer };
}
