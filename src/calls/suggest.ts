import type { DescMethod, Message } from "@bufbuild/protobuf";
import type { Account } from "../access/account.ts";
import { type Fault, KibitzError, withCost } from "../errors/errors.ts";
import { keysOfPointer } from "../text/json-pointer.ts";
import { holdsKey } from "../text/plain-text.ts";

type Plain = Readonly<Record<string, unknown>>;

/** The faults of values that can be mended by what is told to be allowed. */
const codes: readonly Fault["code"][] = ["out_of_range", "over_plan_limit", "invalid_fen", "illegal_move"];

/** What mends one stage of judging may show the faults of the next: of the fields, the position, the plan. */
const stagesMax = 4;

/**
 * Judges a request of a method, or an item of its batch, as the method's calls are judged until they are counted.
 * Rejects with the KibitzError that such a call would end with.
 */
export type PreflightMessage = (message: Message, method: DescMethod, account: Account) => Promise<unknown>;

/**
 * The same error with the nearest request that would be answered, if there is one: each number that is out of its
 * range moved to the nearest that is allowed, each list that is too long cut, a FEN completed, a game ended before its
 * illegal move. What becomes of that is judged as every request is, and mended again; where anything is left that cannot be, nothing is suggested.
 *
 * @param judge rejects with a KibitzError for a request that would not be let to an engine.
 */
export async function withSuggestion(
  error: KibitzError,
  sent: Plain,
  judge: (candidate: Plain) => Promise<unknown>,
): Promise<KibitzError> {
  const suggestedRequest = await mended(sent, error, judge);
  if (suggestedRequest === undefined) {
    return error;
  }
  const { code, message, faults, upgrade, nextAction, cost } = error;
  const suggesting = new KibitzError(code, message, {
    faults,
    suggestedRequest,
    ...(upgrade && { upgrade }),
    // A key is the better way.
    ...(nextAction === "get_api_key" && { nextAction }),
    cause: error,
  });
  return withCost(suggesting, cost);
}

async function mended(
  sent: Plain,
  { faults }: KibitzError,
  judge: (candidate: Plain) => Promise<unknown>,
): Promise<Plain | undefined> {
  let candidate: Plain | undefined = sent;
  let wrong = faults;
  for (let stage = 0; stage < stagesMax; stage++) {
    candidate = mend(candidate, wrong);
    if (candidate === undefined) {
      return undefined;
    }
    try {
      await judge(candidate);
      return candidate;
    } catch (thrown) {
      if (!(thrown instanceof KibitzError)) {
        throw thrown;
      }
      wrong = thrown.faults;
    }
  }
  return undefined;
}

/** Nothing unless every fault can be mended. */
function mend(sent: Plain, faults: readonly Fault[]): Plain | undefined {
  if (faults.length === 0 || !faults.every(({ code }) => codes.includes(code))) {
    return undefined;
  }
  const copy = structuredClone(sent);
  const isMended = faults.every((fault) => set(copy, fault));
  // All that was sent comes back: not where somebody put their key into it.
  return isMended && !holdsKey(JSON.stringify(copy)) ? copy : undefined;
}

function set(request: unknown, { pointer, allowed, endsList }: Fault): boolean {
  const keys = keysOfPointer(pointer);
  const last = keys.pop();
  let holder: unknown = request;
  for (const key of keys) {
    holder = isHolder(holder) && Object.hasOwn(holder, key) ? holder[key] : undefined;
  }
  if (endsList && Array.isArray(holder)) {
    holder.length = Number(last);
    return holder.length > 0;
  }
  if (last === undefined || allowed === undefined || !isHolder(holder) || !Object.hasOwn(holder, last)) {
    return false;
  }
  const nearest = nearestTo(holder[last], allowed);
  holder[last] = nearest;
  return nearest !== undefined;
}

function nearestTo(value: unknown, { minimum, maximum, maxItems, examples }: Fault["allowed"] & {}): unknown {
  if (Array.isArray(examples)) {
    return examples[0];
  }
  if (Array.isArray(value) && typeof maxItems === "number") {
    return value.slice(0, maxItems);
  }
  return typeof value === "number" && typeof minimum === "number" && typeof maximum === "number"
    ? Math.min(Math.max(value, minimum), maximum)
    : undefined;
}

function isHolder(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
