import type { CallLine } from "../log/call-line.ts";
import { type Caller, endingOf } from "../request/context.ts";
import { echo } from "../text/plain-text.ts";
import { type NodeRequest, pathOf } from "./message.ts";

/**
 * Gives a request that was refused before it became a call the line that every call has. To be told of every request
 * when its answer has ended.
 *
 * @param addressOf the address that a caller is known by
 */
export function createRefusalLog(
  write: CallLine,
  addressOf: (caller: Caller) => string,
): (req: NodeRequest, startedAt: number) => void {
  return (req, startedAt) => {
    const { code, hasLine, caller } = endingOf(req);
    if (hasLine || code === undefined || caller === undefined) {
      return;
    }
    const fields = { method: req.method ?? "", request: echo(pathOf(req)) };
    write(caller, { code, startedAt, address: addressOf(caller), fields });
  };
}
