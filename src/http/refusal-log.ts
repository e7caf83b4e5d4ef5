import type { CallLine } from "../log/call-line.ts";
import { contextOf, type RequestContext } from "../request/context.ts";
import { outcomeOf } from "../request/outcome.ts";
import { echo } from "../text/plain-text.ts";
import type { NodeRequest } from "./message.ts";

/**
 * Gives a request that was refused before it became a call the line that every call has. To be told of every request
 * when its answer has ended.
 *
 * @param addressOf the address that a caller is known by
 */
export function createRefusalLog(
  write: CallLine,
  addressOf: (request: RequestContext) => string,
): (req: NodeRequest, startedAt: number) => void {
  return (req, startedAt) => {
    const { code, hasLine } = outcomeOf(req);
    if (hasLine || code === undefined) {
      return;
    }
    const request = contextOf(req);
    const fields = { method: req.method ?? "", request: echo(request.path) };
    write(request, { code, startedAt, address: addressOf(request), fields });
  };
}
