import { contextOf } from "./context.ts";

/** What becomes of a request: written down by whoever answers it, for its answer and its line in the log. */
export interface RequestOutcome {
  /** Headers that are added to the answer, by lower-case name. */
  readonly answerHeaders: Map<string, string>;
  /** Why it was refused. */
  code: string | undefined;
  /** Whether it has a line, will get one, or is to have none. */
  hasLine: boolean;
  /** Bytes of the body that have been read, unpacked where that is done before it is decoded. */
  readBytes: number;
}

/** @param answerHeaders those that every answer to the request has */
export function createOutcome(answerHeaders: readonly (readonly [string, string])[] = []): RequestOutcome {
  return { answerHeaders: new Map(answerHeaders), code: undefined, hasLine: false, readBytes: 0 };
}

const outcomes = new WeakMap<object, RequestOutcome>();

/** The outcome of a request that came through the edge, the same whoever asks. */
export function outcomeOf(request: object): RequestOutcome {
  let outcome = outcomes.get(request);
  if (outcome === undefined) {
    outcome = createOutcome([["x-request-id", contextOf(request).id]]);
    outcomes.set(request, outcome);
  }
  return outcome;
}
