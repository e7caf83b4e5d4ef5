import type { DescMethod, Message } from "@bufbuild/protobuf";
import { KibitzError, refuseViolations, type Violation, withCost } from "../errors/errors.ts";
import type { Plain } from "../text/json.ts";
import { keysOfPointer } from "../text/json-pointer.ts";
import { holdsKey } from "../text/keys-in-text.ts";
import type { ReadCall } from "./call.ts";
import { createMessageReader, type MessageReading } from "./plain/read-message.ts";

/** Validates a request, or an item of a batch, without a search. Throws if the service would reject the request. */
export type ValidateMessage = (message: Message, method: DescMethod, call: ReadCall) => Promise<unknown>;

type Suggest = (error: KibitzError, sent: Plain, call: ReadCall) => Promise<KibitzError>;

export function createSuggest(
  method: DescMethod,
  validate: ValidateMessage,
  read: (sent: Plain) => MessageReading = createMessageReader(method.input),
): Suggest {
  return (error, sent, call) =>
    withSuggestion(error, sent, async (candidate) => {
      const { message, violations } = read(candidate);
      refuseViolations(violations);
      await validate(message, method, call);
    });
}

/**
 * Adds a corrected request to an error. A corrected game ends before its first illegal move.
 * Adds nothing if a violation cannot be corrected, or if `validate` rejects the corrected request.
 */
export async function withSuggestion(
  error: KibitzError,
  sent: Plain,
  validate: (candidate: Plain) => Promise<unknown>,
): Promise<KibitzError> {
  const suggestedRequest = fix(sent, error.violations);
  if (suggestedRequest === undefined) {
    return error;
  }
  try {
    await validate(suggestedRequest);
  } catch (thrown) {
    if (thrown instanceof KibitzError) {
      return error;
    }
    throw thrown;
  }
  const { code, message, violations, upgrade, nextAction, cost } = error;
  const suggesting = new KibitzError(code, message, {
    violations,
    suggestedRequest,
    ...(upgrade && { upgrade }),
    // For the client, getting a key is better than sending the suggested request.
    ...(nextAction === "get_api_key" && { nextAction }),
    cause: error,
  });
  return withCost(suggesting, cost);
}

function fix(sent: Plain, violations: readonly Violation[]): Plain | undefined {
  if (violations.length === 0) {
    return undefined;
  }
  const copy = structuredClone(sent);
  const misspelt = violations.filter(({ meant }) => meant !== undefined);
  const corrected = misspelt.map(
    ({ pointer, meant = "" }) => `${pointer.slice(0, pointer.lastIndexOf("/"))}/${meant}`,
  );
  // The correction of a misspelled name adds a field that was reported as missing.
  const others = violations.filter(
    ({ pointer, meant }) => meant === undefined && !corrected.includes(pointer),
  );
  const isFixed =
    misspelt.every((violation) => rename(copy, violation)) &&
    others.every((violation) => set(copy, violation));
  // Do not repeat an API key, which may be anywhere in the request.
  return isFixed && !holdsKey(JSON.stringify(copy)) ? copy : undefined;
}

function rename(request: unknown, { pointer, meant = "" }: Violation): boolean {
  const { holder, key = "" } = placeOf(request, pointer);
  if (!isHolder(holder) || !Object.hasOwn(holder, key) || Object.hasOwn(holder, meant)) {
    return false;
  }
  holder[meant] = holder[key];
  return delete holder[key];
}

function set(request: unknown, { pointer, allowed, instead }: Violation): boolean {
  if (instead && isHolder(request)) {
    Object.assign(request, structuredClone(instead));
    return true;
  }
  const { holder, key } = placeOf(request, pointer);
  if (key === undefined || allowed === undefined || !isHolder(holder) || !Object.hasOwn(holder, key)) {
    return false;
  }
  const nearest = nearestTo(holder[key], allowed);
  holder[key] = nearest;
  return nearest !== undefined;
}

/** Returns the object or list that contains the value at a JSON pointer, and the value's key or index in it. */
function placeOf(
  request: unknown,
  pointer: string,
): { readonly holder: unknown; readonly key: string | undefined } {
  const keys = keysOfPointer(pointer);
  const key = keys.pop();
  let holder = request;
  for (const step of keys) {
    holder = isHolder(holder) && Object.hasOwn(holder, step) ? holder[step] : undefined;
  }
  return { holder, key };
}

function nearestTo(value: unknown, allowed: Violation["allowed"] & {}): unknown {
  const { type, minimum, maximum, maxItems, examples } = allowed;
  if (Array.isArray(examples)) {
    return examples[0];
  }
  if (Array.isArray(value) && typeof maxItems === "number") {
    return value.slice(0, maxItems);
  }
  const meant = typeof value === "string" ? valueFromText(value) : value;
  if (type === "boolean") {
    return typeof meant === "boolean" ? meant : undefined;
  }
  return typeof meant === "number" && typeof minimum === "number" && typeof maximum === "number"
    ? Math.min(Math.max(Math.round(meant), minimum), maximum)
    : undefined;
}

function valueFromText(text: string): number | boolean | undefined {
  const spelt = text.trim().toLowerCase();
  if (spelt === "true" || spelt === "false") {
    return spelt === "true";
  }
  return /^-?\d{1,20}(?:\.\d{1,20})?$/.test(spelt) ? Number(spelt) : undefined;
}

function isHolder(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
