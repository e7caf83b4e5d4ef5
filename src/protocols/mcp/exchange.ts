import { createMcpHandler } from "@modelcontextprotocol/server";
import type { NodeRequest } from "../../http/message.ts";
import type { Plain } from "../../text/plain-text.ts";
import { createServer, type Peer } from "./server.ts";

/** The headers that the SDK needs. It sees no others, above all no key. */
const passed = ["accept", "content-type", "mcp-protocol-version", "mcp-method", "mcp-name"];

/**
 * Lets the SDK answer one message over HTTP, in its version of the protocol, by a server of its own. Rejects if the SDK fails.
 *
 * @param version the version of Kibitz
 */
export async function exchange(
  { headers }: NodeRequest,
  message: Plain,
  peer: Peer,
  version: string,
): Promise<Response> {
  /** The SDK reports errors of the message, too: the last one is that of its answer. */
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
  if (response.status >= 500) {
    throw error ?? new Error(`the SDK has answered with the status ${response.status}`);
  }
  return response;
}
