import { batch, signal } from "@preact/signals";
import type { EvaluateResponse } from "../../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { keepAsking, type Wait } from "../client/keep-asking.ts";
import { client } from "../client/the-client.ts";
import type { SearchRequest } from "../request/settings.ts";

/** A search: a position with its history, and the settings. */
export interface Question {
  readonly fen: string;
  readonly moves: readonly string[];
  readonly settings: SearchRequest;
}

/** How a search is getting on. */
export type SearchState =
  | { readonly kind: "idle" | "asking" | "searching" | "done" | "stopped" }
  | { readonly kind: "queued"; readonly place: number; readonly waitMs: number }
  /** The service has refused. */
  | { readonly kind: "refused"; readonly error: unknown }
  /** The service does not answer, or has said to wait; the page asks again after the wait. */
  | { readonly kind: "waiting"; readonly wait: Wait };

export const search = signal<SearchState>({ kind: "idle" });

/** The evaluations of the search, depth by depth. They stay if the connection is lost or the search is stopped. */
export const evaluations = signal<readonly EvaluateResponse[]>([]);

let running: AbortController | undefined;

/** The latest pause, for the key that was refused: it is true of the next position as well. */
let pause: { readonly wait: Wait; readonly key: string } | undefined;

/** Answers of this visit, newest last, so that going back in a game costs no calls. */
const known = new Map<string, readonly EvaluateResponse[]>();
const knownMax = 100;

/** Shows what is known of a question already. Returns whether anything is. */
export function recall(question: Question): boolean {
  const answer = known.get(keyOf(question));
  if (answer) {
    running?.abort();
    batch(() => {
      evaluations.value = answer;
      search.value = { kind: "done" };
    });
  }
  return answer !== undefined;
}

/** Asks, and ends what was asked before at once. Resolves when all has been said. */
export async function ask(question: Question, { atOnce = false } = {}): Promise<void> {
  running?.abort();
  const after = !atOnce && pause?.key === client.key.peek() ? pause.wait : undefined;
  const controller = new AbortController();
  running = controller;
  const { signal: ended } = controller;
  batch(() => {
    search.value = { kind: "asking" };
    evaluations.value = [];
  });
  try {
    await follow(question, ended, after);
  } catch (error) {
    if (!ended.aborted) {
      search.value = { kind: "refused", error };
    }
  }
}

/** Stops the search; what it has said stays. */
export function stop(): void {
  running?.abort();
  if (isUnderWay(search.value)) {
    search.value = { kind: "stopped" };
  }
}

/** Ends the search and forgets what it said: the board has another position. */
export function leave(): void {
  running?.abort();
  batch(() => {
    search.value = { kind: "idle" };
    evaluations.value = [];
  });
}

/** True if there is a search to stop. */
export function isUnderWay({ kind }: SearchState): boolean {
  return kind === "asking" || kind === "queued" || kind === "searching" || kind === "waiting";
}

async function follow(question: Question, ended: AbortSignal, after: Wait | undefined): Promise<void> {
  const { fen, moves, settings } = question;
  const request = { fen, moves: [...moves], ...settings };
  let said: readonly EvaluateResponse[] = [];
  const onWait = (wait: Wait) => {
    pause = { wait, key: client.key.peek() };
    search.value = { kind: "waiting", wait };
  };
  const ask = () => client.analyses.streamEvaluate(request, { signal: ended });
  for await (const { event } of keepAsking(ask, { signal: ended, after, onWait })) {
    if (event.case === "queued") {
      search.value = {
        kind: "queued",
        place: event.value.place,
        waitMs: event.value.expectedWaitMs,
      };
    }
    if (event.case === "evaluation") {
      const latest = event.value;
      // A depth that is told twice, as the last one is, stands once.
      said = [...said.filter(({ search: at }) => at?.depth !== latest.search?.depth), latest];
      batch(() => {
        evaluations.value = said;
        search.value = { kind: "searching" };
      });
    }
  }
  if (ended.aborted) {
    return;
  }
  search.value = { kind: "done" };
  keep(keyOf(question), said);
}

function keep(key: string, answer: readonly EvaluateResponse[]): void {
  known.delete(key);
  known.set(key, answer);
  const [oldest] = known.keys();
  if (known.size > knownMax && oldest !== undefined) {
    known.delete(oldest);
  }
}

function keyOf({ fen, moves, settings }: Question): string {
  return JSON.stringify([fen, moves, settings], (_, value) =>
    typeof value === "bigint" ? value.toString() : value,
  );
}
