import { costOfBytes, errorFromViolations, withCost } from "../errors/errors.ts";
import { wellFormedJson } from "../text/well-formed-json.ts";

const utf8 = new TextDecoder("utf-8", { fatal: true });

/**
 * Returns a JSON text without its byte order mark and without halves of surrogate pairs. Throws a KibitzError if the bytes are
 * not UTF-8. Does not parse the text.
 */
export function jsonFromBytes(bytes: Uint8Array): string {
  try {
    return wellFormedJson(utf8.decode(bytes));
  } catch {
    const violation = {
      pointer: "",
      code: "malformed_json",
      message: "The body is not valid UTF-8.",
    } as const;
    throw withCost(errorFromViolations([violation]), costOfBytes(bytes.length));
  }
}
