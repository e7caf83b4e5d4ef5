import type { UniversalServerResponse } from "@connectrpc/connect/protocol";
import type { NodeResponse } from "../node-message.ts";

/**
 * An answer that ends with its reader: when they leave, so does what makes the messages. Connect waits for a message of
 * more than 16 KiB to be taken also when nobody is there any more (connect-node 2.2.0).
 */
export function boundToReader(reply: UniversalServerResponse, res: NodeResponse): UniversalServerResponse {
  if (reply.body === undefined) {
    return reply;
  }
  async function* bound(messages: AsyncIterable<Uint8Array>) {
    yield* messages;
  }
  const body = bound(reply.body);
  // What fails at its end has nobody to be told to.
  res.once("close", () => void body.return().catch(() => {}));
  return { ...reply, body };
}
