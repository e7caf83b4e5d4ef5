import { errorFromViolations, type KibitzError } from "../errors/errors.ts";
import { echo } from "../text/echo.ts";
import type { Validation } from "./position.ts";

export function errorFromPositionViolations({
  violations,
  suggested,
}: Extract<Validation, { kind: "violations" }>): KibitzError {
  return errorFromViolations(
    violations.map(({ field, index, code, message, offset, token = "" }) => ({
      pointer: index === undefined ? `/${field}` : `/${field}/${index}`,
      code,
      message,
      ...(offset !== undefined && { place: { offset, token: echo(token) } }),
      ...(suggested && { instead: { ...suggested } }),
      ...(suggested?.fen && { allowed: { examples: [suggested.fen] } }),
    })),
  );
}
