import { ProtocolError, ProtocolErrorCode, Server } from "@modelcontextprotocol/server";
import type { KibitzError } from "../../errors/errors.ts";
import { echo } from "../../text/plain-text.ts";
import { callTool } from "./call-tool.ts";
import type { Caller } from "./caller.ts";
import { noMessage } from "./refusals.ts";
import type { Report } from "./tool.ts";
import { annotations, instructions, tools } from "./tools.ts";

/** The client of a server. */
export interface Peer {
  /** Aborted when the client disconnects, which cancels its calls. */
  readonly left: AbortSignal;
  /** @param signal aborted when the call is cancelled, or the client disconnects */
  callerFor(signal: AbortSignal): Caller;
  /** Logs and counts the error of a message or a tool. */
  refused(error: KibitzError): Promise<void>;
}

/** A day, in milliseconds: the tools change with a version of this service only. */
const listTtlMs = 86_400_000;

/** The tools, as the specification lists them. */
const listed = tools.map(({ name, title, description, inputSchema, outputSchema }) => ({
  name,
  title,
  description,
  inputSchema,
  outputSchema,
  annotations: { title, ...annotations },
}));

/**
 * The tools for one client: for one request over HTTP, for one connection over standard input and output.
 *
 * @param version the version of Kibitz
 */
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
        `There is no tool "${echo(params.name)}"; the tools are ${names}.`,
      );
    }
    const signal = AbortSignal.any([mcpReq.signal, peer.left]);
    const progressToken = mcpReq._meta?.progressToken;
    const report: Report = (step) => {
      const params = { progressToken, ...step };
      // Sending fails if the client has disconnected.
      mcpReq.notify({ method: "notifications/progress", params }).catch(() => {});
    };
    return callTool(tool, params.arguments ?? {}, {
      caller: peer.callerFor(signal),
      report: progressToken === undefined ? undefined : report,
      signal,
      refused: peer.refused,
    });
  });
  reportErrors(server, peer);
  return server;
}

/** Reports the errors with which the SDK answers messages by itself, because they count as the errors of tools do. */
function reportErrors(server: Server, { refused }: Peer): void {
  const connect = server.connect.bind(server);
  server.connect = (transport) => {
    const send = transport.send.bind(transport);
    transport.send = (message, options) => {
      if ("error" in message && message.error.code !== ProtocolErrorCode.InternalError) {
        const isUnknown = message.error.code === ProtocolErrorCode.MethodNotFound;
        // Not awaited: the SDK gives an error the status 404 or 400 only if it is sent at once.
        // The endpoint awaits the same count, and handles its failure.
        refused(noMessage(isUnknown ? 404 : 400)).catch(() => {});
      }
      return send(message, options);
    };
    return connect(transport);
  };
}
