import type { ServerResponse } from "node:http";
import { isGone, type NodeResponse } from "./node-message.ts";

/** Writes a part of an answer, and waits until its reader has room for more. `false` says that the reader is gone. */
export function writePart(res: NodeResponse, part: string | Buffer): Promise<boolean> {
  if (isGone(res)) {
    return Promise.resolve(false);
  }
  // Both kinds of responses take both kinds of parts, but the overloads of the two do not agree on it.
  const response = res as ServerResponse;
  if (response.write(part)) {
    return Promise.resolve(true);
  }
  return new Promise((resolve) => {
    const settle = () => {
      response.off("drain", settle).off("close", settle);
      resolve(!isGone(res));
    };
    response.on("drain", settle).on("close", settle);
  });
}
