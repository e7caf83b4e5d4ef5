import type { ServerResponse } from "node:http";
import { isGone, type NodeResponse } from "./node-message.ts";

/** Writes a part of an answer, and waits until its reader has room for more. `false` says that the reader is gone. */
export function writePart(res: NodeResponse, part: string | Buffer): Promise<boolean> {
  if (isGone(res)) {
    return Promise.resolve(false);
  }
  // Both kinds of responses take both kinds of parts, but the overloads of the two do not agree on it.
  const response = res as ServerResponse;
  // As bytes: a text that is joined of hundreds of pieces takes several times as much while it waits.
  if (response.write(typeof part === "string" ? Buffer.from(part) : part)) {
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
