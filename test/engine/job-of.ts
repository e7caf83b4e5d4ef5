import type { SearchDone, SearchEvent, SearchJob } from "../../src/engine/engine.ts";
import { positionOf, startFen } from "../chess/judged.ts";

interface Told extends Partial<Omit<SearchJob, "position">> {
  readonly fen?: string;
  readonly moves?: readonly string[];
  readonly chess960?: boolean;
}

/** A search of which a test says only what matters to it. */
export function jobOf({ fen = startFen, moves = [], chess960 = false, ...told }: Told = {}): SearchJob {
  const position = positionOf(fen, { moves, chess960 });
  return { position, depth: 14, movetimeMs: 60_000, multipv: 1, options: {}, ...told };
}

/** All that a search says. */
export async function eventsOf(search: AsyncIterable<SearchEvent>): Promise<SearchEvent[]> {
  return Array.fromAsync(search);
}

/** The answer of a search that is to have exactly one, as its last word. */
export async function answerOf(search: AsyncIterable<SearchEvent>): Promise<SearchDone> {
  const events = await eventsOf(search);
  const last = events.pop();
  if (last?.kind !== "done" || events.some(({ kind }) => kind === "done")) {
    throw new Error("the search did not end with its one answer");
  }
  return last;
}
