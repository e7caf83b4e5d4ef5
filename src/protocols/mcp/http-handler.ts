import { AsyncLocalStorage } from "node:async_hooks";
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
  answer(request: Request, body: Plain, peer: ConnectedPeer): Promise<HttpAnswer>;
}

export interface HttpAnswer {
  readonly response: Response;
  /** The last error that the SDK reported for the request, most often one of its message. */
  readonly error: Error | undefined;
}

/** Most clients that listen for changes of the tools, which never change while a server runs. */
const subscriptionsMax = 64;

/** @param version the version of Kibitz */
export function createHttpHandler(version: string): HttpHandler {
  /** The SDK reports the errors of all requests to one callback. */
  const reports = new AsyncLocalStorage<{ error?: Error }>();
  const peers = new WeakMap<Request, ConnectedPeer>();
  const handler = createMcpHandler(
    ({ requestInfo }) => {
      const peer = requestInfo && peers.get(requestInfo);
      if (peer === undefined) {
        throw new TypeError("the SDK made a server for an unknown request");
      }
      return createServer(peer, version);
    },
    {
      maxSubscriptions: subscriptionsMax,
      onerror(error) {
        const report = reports.getStore();
        if (report !== undefined) {
          report.error = error;
        }
      },
    },
  );
  const listTools = createKeptList();
  return {
    async answer(request, body, peer) {
      peers.set(request, peer);
      const ask = (parsedBody: Plain) => handler.fetch(request, { parsedBody });
      const report: { error?: Error } = {};
      const response = await reports.run(
        report,
        async () => (await listTools(request, body, ask)) ?? ask(body),
      );
      return { response, error: report.error };
    },
  };
}
