import { createMcpHandler } from "@modelcontextprotocol/server";
import type { NodeRequest } from "../../http/message.ts";
import type { Plain } from "./caller.ts";
import { createServer, type Peer } from "./server.ts";

/** The headers that the SDK needs. It sees no others, above all no key. */
const passed = ["accept", "content-type", "mcp-protocol-version", "mcp-method", "mcp-name"];

/**
 * Lets the SDK answer one message over HTTP, in its version of the protocol, by a server of its own.
 *
 * @param version the version of Kibitz
 * @returns `error` is the last one that the SDK has reported, most often one of the message
 */
export async function exchange({ headers }: NodeRequest, message: Plain, peer: Peer, version: string) {
  let error: Error | undefined;
  const handler = createMcpHandler(() => createServer(peer, version), {
    onerror(reported) {
      error = reported;
    },
  });
  const shown = new Headers();
  for (const name of passed.filter((name) => name in headers)) {
    shown.set(name, String(headers[name]));
  }
  const request = new Request("http://localhost/mcp", { method: "POST", headers: shown, signal: peer.left });
  const response = await handler.fetch(request, { parsedBody: message });
  return { response, error };
}
