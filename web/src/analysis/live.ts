import { batch, effect, signal } from "@preact/signals";
import type { EvaluateResponse } from "../../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { key } from "../client/key.ts";
import { failureOf } from "../client/problem.ts";
import { analyses } from "../client/service.ts";
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
  /** Nobody answers; it is asked again by itself after `waitMs`. */
  | { readonly kind: "lost"; readonly waitMs: number; readonly failures: number };

export const search = signal<SearchState>({ kind: "idle" });

/** The evaluations of the search, depth by depth. They stay if the connection is lost or the search is stopped. */
export const evaluations = signal<readonly EvaluateResponse[]>([]);

let running: AbortController | undefined;
let refusal: { readonly error: unknown; readonly until: number } | undefined;

// The answers of one caller are not those of the next.
effect(() => {
  key.value;
  refusal = undefined;
});

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
export async function ask(question: Question): Promise<void> {
  running?.abort();
  refusal = undefined;
  const controller = new AbortController();
  running = controller;
  const { signal: ended } = controller;
  batch(() => {
    search.value = { kind: "asking" };
    evaluations.value = [];
  });
  for (let failures = 0; !ended.aborted; failures++) {
    try {
      await follow(question, ended, () => {
        failures = 0;
      });
      return;
    } catch (error) {
      if (ended.aborted) {
        return;
      }
      const failure = failureOf(error);
      if (failure.kind === "problem" || failure.kind === "foreign") {
        const waitMs = failure.kind === "problem" ? (failure.problem.retryAfterMs ?? 0) : 0;
        refusal = { error, until: performance.now() + waitMs };
        search.value = { kind: "refused", error };
        return;
      }
      const waitMs = Math.min(1000 * 2 ** failures, longestWaitMs);
      search.value = { kind: "lost", waitMs, failures };
      await waitForNetwork(waitMs, ended);
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

/**
 * Ends the search and forgets what it said: the board has another position. Where the service has said to wait, that stays,
 * with its countdown: it is true of the next position as well.
 */
export function leave(): void {
  running?.abort();
  batch(() => {
    const waits = refusal !== undefined && performance.now() < refusal.until;
    search.value = waits ? { kind: "refused", error: refusal?.error } : { kind: "idle" };
    evaluations.value = [];
  });
}

/** True if there is a search to stop. */
export function isUnderWay({ kind }: SearchState): boolean {
  return kind === "asking" || kind === "queued" || kind === "searching" || kind === "lost";
}

async function follow(question: Question, ended: AbortSignal, onAnswer: () => void): Promise<void> {
  const { fen, moves, settings } = question;
  const request = { fen, moves: [...moves], ...settings };
  let said: readonly EvaluateResponse[] = [];
  for await (const { event } of analyses.streamEvaluate(request, { signal: ended })) {
    if (ended.aborted) {
      return;
    }
    onAnswer();
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

const longestWaitMs = 15_000;
let hurry: (() => void) | undefined;

/** Asks again at once, where the connection was lost. */
export function retryNow(): void {
  hurry?.();
}

/** Until it is time to ask again, the browser says that there is a network, somebody does not want to wait, or the search ends. */
function waitForNetwork(ms: number, ended: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const waited = new AbortController();
  const timer = setTimeout(resolve, ms);
  hurry = resolve;
  addEventListener("online", () => resolve(), { signal: waited.signal });
  ended.addEventListener("abort", () => resolve(), { signal: waited.signal });
  return promise.finally(() => {
    clearTimeout(timer);
    waited.abort();
  });
}
