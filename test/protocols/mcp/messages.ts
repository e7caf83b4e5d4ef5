const newMetadata = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": {},
};

type Plain = Readonly<Record<string, unknown>>;

interface Message {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Plain;
}

/** Creates a request in the older protocol version. */
export function oldMessage(method: string, params: Plain = {}): Message {
  return {
    headers: {
      "Content-Type": "application/json",
      Accept: "application/json, text/event-stream",
      "MCP-Protocol-Version": "2025-11-25",
    },
    body: { jsonrpc: "2.0", id: 1, method, params },
  };
}

/** Creates a request in the newer protocol version. @param headers override the usual headers */
export function newMessage(
  method: string,
  params: Plain = {},
  headers: Readonly<Record<string, string>> = {},
): Message {
  return {
    headers: {
      "Content-Type": "application/json",
      Accept: "application/json, text/event-stream",
      "MCP-Protocol-Version": "2026-07-28",
      "Mcp-Method": method,
      ...(typeof params.name === "string" && { "Mcp-Name": params.name }),
      ...headers,
    },
    body: { jsonrpc: "2.0", id: 1, method, params: { ...params, _meta: newMetadata } },
  };
}

/** Sends a message, and reads the response, which may be a JSON body or a stream with one event. */
export async function send(url: string, { headers, body }: Message) {
  const answer = await fetch(`${url}/mcp`, { method: "POST", headers, body: JSON.stringify(body) });
  const text = await answer.text();
  const json = /^data: (.+)$/m.exec(text)?.[1] ?? text;
  const read: Plain = json === "" ? {} : JSON.parse(json);
  return { status: answer.status, headers: answer.headers, body: read };
}
