import { ProtocolError, ProtocolErrorCode, Server } from "@modelcontextprotocol/server";
import type { KibitzError } from "../../errors/errors.ts";
import { echo } from "../../text/echo.ts";
import { callTool } from "./call-tool.ts";
import type { Caller } from "./caller.ts";
import { noMessage } from "./refusals.ts";
import type { Report } from "./tool.ts";
import { annotations, instructions, tools } from "./tools.ts";

export interface Peer {
  readonly left: AbortSignal;
  /** Returns the methods for one call of a tool. `signal` is aborted if the call is cancelled or the client disconnects. */
  callerFor(signal: AbortSignal): Caller;
  refused(error: KibitzError): Promise<void>;
  /** The request does not end until the result is disposed of, even if the client disconnects. */
  hold(): Disposable;
}

/** Clients can cache the list of tools for this many milliseconds. The list changes only with the version of this service. */
const listTtlMs = 86_400_000;

const listed = tools.map(({ name, title, description, inputSchema, outputSchema }) => ({
  name,
  title,
  description,
  inputSchema,
  outputSchema,
  annotations: { title, ...annotations },
}));

/** Creates an MCP server for one HTTP request, or for one connection over standard input and output. */
export function createServer(peer: Peer, version: string): Server {
  const server = new Server(
    { name: "kibitz", title: "Kibitz", version },
    {
      capabilities: { tools: {} },
      instructions,
      cacheHints: {
        "tools/list": { ttlMs: listTtlMs, cacheScope: "public" },
        "server/discover": { ttlMs: listTtlMs, cacheScope: "public" },
      },
    },
  );
  server.setRequestHandler("tools/list", () => ({ tools: listed }));
  server.setRequestHandler("tools/call", async ({ params }, { mcpReq }) => {
    const tool = tools.find(({ name }) => name === params.name);
    if (tool === undefined) {
      const names = tools.map(({ name }) => name).join(", ");
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        `There is no tool ${echo(params.name, '"')}; the tools are ${names}.`,
      );
    }
    const signal = AbortSignal.any([mcpReq.signal, peer.left]);
    const progressToken = mcpReq._meta?.progressToken;
    const report: Report = (step) => {
      const params = { progressToken, ...step };
      // Sending fails if the client has disconnected.
      mcpReq.notify({ method: "notifications/progress", params }).catch(() => {});
    };
    // The SDK answers at once if the client disconnects. The tool needs longer to notice.
    using _ = peer.hold();
    return await callTool(tool, params.arguments ?? {}, {
      caller: peer.callerFor(signal),
      report: progressToken === undefined ? undefined : report,
      signal,
      refused: peer.refused,
    });
  });
  reportErrors(server, peer);
  return server;
}

/** Reports the errors that the SDK itself sends to the client, because these errors also count in the error quota. */
function reportErrors(server: Server, { refused }: Peer): void {
  const connect = server.connect.bind(server);
  server.connect = (transport) => {
    const send = transport.send.bind(transport);
    transport.send = (message, options) => {
      if ("error" in message && message.error.code !== ProtocolErrorCode.InternalError) {
        const isUnknown = message.error.code === ProtocolErrorCode.MethodNotFound;
        // Do not wait here, because the SDK uses the status 404 or 400 only for an error that is sent at once.
        refused(noMessage(isUnknown ? 404 : 400)).catch(() => {});
      }
      return send(message, options);
    };
    return connect(transport);
  };
}
