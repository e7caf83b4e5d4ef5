import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";

/** A request as Node hands it over: HTTP/1.1 and HTTP/2 come through one port. */
export type NodeRequest = IncomingMessage | Http2ServerRequest;

/** The answer to a {@link NodeRequest}. */
export type NodeResponse = ServerResponse | Http2ServerResponse;

/**
 * Answers a request, now or later; `false` says that the request is another handler's, and is untouched. A promise of
 * that is for what has to be found out first.
 */
export type RequestHandler = (req: NodeRequest, res: NodeResponse) => boolean | Promise<boolean>;

/** Whether nobody waits for the answer any more. */
export function isGone(res: NodeResponse): boolean {
  // Node's types promise `destroyed` for both, but an Http2ServerResponse has none.
  return "stream" in res ? res.stream.destroyed || res.stream.closed : res.destroyed;
}

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
