import type { UniversalServerResponse } from "@connectrpc/connect/protocol";
import type { NodeResponse } from "./node-message.ts";

/**
 * An answer that ends with its reader: when he leaves, so does what makes the messages, and who does not take one in
 * time loses the call. What waits to be taken is in memory, and over HTTP/2 a client can let one call wait for ever
 * while its connection stays alive.
 *
 * Connect waits for a message of more than 16 KiB to be taken also when nobody is there any more (connect-node 2.2.0).
 *
 * @param takeMaxMs how long one message may wait, in milliseconds
 */
export function boundToReader(
  reply: UniversalServerResponse,
  res: NodeResponse,
  takeMaxMs: number,
): UniversalServerResponse {
  if (reply.body === undefined) {
    return reply;
  }
  const body = inTime(reply.body, takeMaxMs, () => res.destroy());
  // What fails at its end has nobody to be told to.
  res.once("close", () => body.return().catch(() => {}));
  return { ...reply, body };
}

async function* inTime(messages: AsyncIterable<Uint8Array>, maxMs: number, cut: () => void) {
  let waiting: NodeJS.Timeout | undefined;
  try {
    for await (const message of messages) {
      waiting = setTimeout(cut, maxMs);
      // Goes on when the message is written, or there is room for another.
      yield message;
      clearTimeout(waiting);
    }
  } finally {
    clearTimeout(waiting);
  }
}
