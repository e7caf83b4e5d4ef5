import type { UniversalServerResponse } from "@connectrpc/connect/protocol";
import type { NodeResponse } from "./node-message.ts";

/**
 * An answer that ends with its reader: when he leaves, so does what makes the messages. Connect waits for a message of
 * more than 16 KiB to be taken also when nobody is there any more (connect-node 2.2.0).
 *
 * Who does not take a message in time loses the call: what waits is in memory, and over HTTP/2 a client can let calls
 * wait for ever while it keeps the connection alive. Over HTTP/1.1 the silence of the connection ends it.
 *
 * @param takeMaxMs how long one message, or the end, may wait, in milliseconds
 */
export function boundToReader(
  reply: UniversalServerResponse,
  res: NodeResponse,
  takeMaxMs: number,
): UniversalServerResponse {
  if (reply.body === undefined) {
    return reply;
  }
  let waiting: NodeJS.Timeout | undefined;
  const wait = () => {
    clearTimeout(waiting);
    waiting = "stream" in res ? setTimeout(() => res.destroy(), takeMaxMs) : undefined;
  };
  async function* inTime(messages: AsyncIterable<Uint8Array>) {
    for await (const message of messages) {
      wait();
      // Goes on when the message is written, or there is room for another.
      yield message;
      clearTimeout(waiting);
    }
    wait();
  }
  const body = inTime(reply.body);
  res.once("close", () => {
    clearTimeout(waiting);
    // What fails at its end has nobody to be told to.
    body.return().catch(() => {});
  });
  return { ...reply, body };
}
