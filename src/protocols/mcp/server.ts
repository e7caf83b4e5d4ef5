import { ProtocolError, ProtocolErrorCode, Server } from "@modelcontextprotocol/server";
import type { KibitzError } from "../../errors/errors.ts";
import { echo } from "../../text/plain-text.ts";
import { callTool } from "./call-tool.ts";
import type { Caller } from "./caller.ts";
import type { Report } from "./tool.ts";
import { annotations, instructions, tools } from "./tools.ts";

/** Who asks through a server, and what is written down of it. */
export interface Peer {
  /** Aborted when it leaves, which cancels its calls. */
  readonly left: AbortSignal;
  /** @param signal aborted when the call is cancelled, or its peer leaves */
  callerFor(signal: AbortSignal): Caller;
  /** Told of what a call was refused for, or failed with. */
  refused(error: KibitzError): Promise<void>;
}

/** A peer, and how its answers reach it. */
export interface ConnectedPeer extends Peer {
  /** Whether it has not read yet what it was sent last. */
  isBehind(): boolean;
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
 * The tools for one peer: of one request over HTTP, of one connection over standard input and output.
 *
 * @param version of Kibitz
 */
export function createServer(peer: ConnectedPeer, version: string): Server {
  const server = new Server(
    { name: "kibitz", title: "Kibitz", version },
    {
      capabilities: { tools: {} },
      instructions,
      cacheHints: {
        "tools/list": { ttlMs: listTtlMs, cacheScope: "public" },
        "server/discover": { ttlMs: listTtlMs, cacheScope: "public" },
      },
      // Only for what users are asked to fill in, which nobody is here; the SDK's own takes a millisecond to make.
      jsonSchemaValidator: { getValidator: unused },
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
      // If the peer is behind, a step would wait in memory: it is left out, and the next one says more.
      if (progressToken !== undefined && !peer.isBehind()) {
        // Whoever has left is told nothing.
        mcpReq
          .notify({ method: "notifications/progress", params: { progressToken, ...step } })
          .catch(() => {});
      }
    };
    return callTool(tool, params.arguments ?? {}, {
      caller: peer.callerFor(signal),
      report: progressToken === undefined ? undefined : report,
      signal,
      refused: peer.refused,
    });
  });
  return server;
}

function unused(): never {
  throw new TypeError("nobody is asked to fill in anything");
}
