import { STATUS_CODES } from "node:http";
import { type Json, refTo } from "./json.ts";

export interface ResponseComponents {
  /** Adds a response and returns a reference. If the response has several error codes, its name contains `operationId`. */
  readonly share: (response: Json, status: number, codes: readonly string[], operationId: string) => Json;
  all(): Json;
}

export function createResponseComponents(): ResponseComponents {
  const names = new Map<string, string>();
  const responses: Record<string, Json> = {};
  return {
    share(response, status, codes, operationId) {
      const text = JSON.stringify(response);
      const known = names.get(text);
      if (known !== undefined) {
        return refTo("responses", known);
      }
      const [only = "", ...more] = codes;
      const ofCall = pascal(`${operationId} ${STATUS_CODES[status]}`);
      // Use the name of the operation if another response already has the name of the error code.
      const name = more.length === 0 && !(pascal(only) in responses) ? pascal(only) : ofCall;
      if (name in responses) {
        throw new Error(`two responses have the name ${name}`);
      }
      names.set(text, name);
      responses[name] = response;
      return refTo("responses", name);
    },
    all: () => responses,
  };
}

function pascal(words: string): string {
  return words
    .split(/[\s_]+/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join("");
}
