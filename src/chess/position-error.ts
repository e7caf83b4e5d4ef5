import { errorFromFaults, type KibitzError } from "../errors/errors.ts";
import { echo } from "../text/plain-text.ts";
import type { Validation } from "./position.ts";

/** Makes the error for a request whose `fen` or `moves` are invalid. */
export function errorFromPositionFaults({
  faults,
  suggested,
}: Extract<Validation, { kind: "faults" }>): KibitzError {
  return errorFromFaults(
    faults.map(({ field, index, code, message, offset, token = "" }) => ({
      pointer: index === undefined ? `/${field}` : `/${field}/${index}`,
      code,
      message,
      ...(offset !== undefined && { place: { offset, token: echo(token) } }),
      ...(suggested && { instead: { ...suggested } }),
      ...(suggested?.fen && { allowed: { examples: [suggested.fen] } }),
    })),
  );
}
