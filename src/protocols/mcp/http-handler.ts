import { createMcpHandler } from "@modelcontextprotocol/server";
import type { Plain } from "./caller.ts";
import { createKeptList } from "./kept-list.ts";
import { type ConnectedPeer, createServer } from "./server.ts";

/** Answers requests in both versions of the protocol, each by a server of its own. */
export interface HttpHandler {
  /**
   * @param request without a body; its signal is aborted when the client disconnects
   * @param body the message, read from JSON
   */
  answer(request: Request, body: Plain, peer: ConnectedPeer): Promise<Response>;
}

/** Most clients that listen for changes of the tools, which never change while a server runs. */
const subscriptionsMax = 64;

/** @param version the version of Kibitz */
export function createHttpHandler(version: string, onError: (error: Error) => void): HttpHandler {
  const peers = new WeakMap<Request, ConnectedPeer>();
  const handler = createMcpHandler(
    ({ requestInfo }) => {
      const peer = requestInfo && peers.get(requestInfo);
      if (peer === undefined) {
        throw new TypeError("the SDK made a server for an unknown request");
      }
      return createServer(peer, version);
    },
    { maxSubscriptions: subscriptionsMax, onerror: onError },
  );
  const listTools = createKeptList();
  return {
    async answer(request, body, peer) {
      peers.set(request, peer);
      const ask = (parsedBody: Plain) => handler.fetch(request, { parsedBody });
      return (await listTools(request, body, ask)) ?? ask(body);
    },
  };
}
