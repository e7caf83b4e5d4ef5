import { createMcpHandler, SUPPORTED_PROTOCOL_VERSIONS } from "@modelcontextprotocol/server";
import { KibitzError } from "../../errors/errors.ts";
import { type NodeRequest, preferredType } from "../../http/message.ts";
import { echo, type Plain } from "../../text/plain-text.ts";
import { refusedAnswer } from "./refusals.ts";
import { createServer, type Peer } from "./server.ts";

/** The headers that the SDK needs. It gets no other, so that it never sees an API key. */
const passed = ["mcp-protocol-version", "mcp-method", "mcp-name"];

const json = "application/json";
const events = "text/event-stream";

/**
 * Lets a new server of the SDK answer one message, in the message's version of the protocol. Rejects if the SDK fails.
 * @throws KibitzError `not_acceptable`
 */
export async function exchange(
  { headers }: NodeRequest,
  message: Plain,
  peer: Peer,
  version: string,
): Promise<Response> {
  const form = formOf(headers.accept, message);
  const asked = headers["mcp-protocol-version"];
  // The SDK checks this header for all messages except the first one.
  if (message.method === "initialize" && asked !== undefined && !versions.includes(String(asked))) {
    const text = `Unsupported protocol version: ${echo(String(asked))} (supported versions: ${versions.join(", ")})`;
    return Response.json(refusedAnswer(unsupportedVersion, text), { status: 400 });
  }
  /** The last error that the SDK has reported. It also reports errors of the message, and the last one belongs to its answer. */
  let error: Error | undefined;
  const handler = createMcpHandler(() => createServer(peer, version), {
    onerror(reported) {
      error = reported;
    },
    ...(form === "events" && { responseMode: "sse" }),
  });
  // The body's type is validated, and the SDK rejects a client that does not name both types of answers.
  const shown = new Headers({ Accept: `${json}, ${events}`, "Content-Type": json });
  for (const name of passed.filter((name) => name in headers)) {
    shown.set(name, String(headers[name]));
  }
  const request = new Request("http://localhost/mcp", { method: "POST", headers: shown, signal: peer.left });
  const response = await handler.fetch(request, { parsedBody: message });
  if (response.status >= 500) {
    throw error ?? new Error(`the SDK has answered with the status ${response.status}`);
  }
  // A subscription is a stream of events that lasts until its client disconnects.
  return form === "json" && message.method !== "subscriptions/listen" ? asJson(response) : response;
}

/** The supported protocol versions: those that begin with `initialize`, and those that do not. */
const versions: readonly string[] = [...SUPPORTED_PROTOCOL_VERSIONS, "2026-07-28"];

/** The SDK's error code for an unknown version of the older protocol. */
const unsupportedVersion = -32_000;

/**
 * Returns the form of the answer. A client that accepts both types gets events only if it names them or asks for progress: most
 * of those that accept everything read only JSON. Throws a KibitzError if the client accepts neither type.
 */
function formOf(accept: string | undefined, { params }: Plain): "json" | "events" | "either" {
  const takesJson = preferredType(accept, [json]) !== undefined;
  const takesEvents = preferredType(accept, [events]) !== undefined;
  if (!takesJson && !takesEvents) {
    const detail = `The Accept header allows neither ${json} nor ${events}: name both, or leave it out.`;
    throw new KibitzError("not_acceptable", detail);
  }
  if (!takesJson) {
    return "events";
  }
  const { progressToken } = Object(Object(params)._meta) as Plain;
  const reads = progressToken !== undefined || accept?.toLowerCase().includes(events);
  return takesEvents && reads ? "either" : "json";
}

/** Returns the answer in a stream of events as JSON. The answer is the last message of the stream. */
async function asJson(response: Response): Promise<Response> {
  if (response.headers.get("content-type") !== events) {
    return response;
  }
  const answer = (await response.text()).split("\n").findLast((line) => line.startsWith("data: "));
  // A stream without an answer belongs to a client that has disconnected.
  return new Response(answer?.slice("data: ".length) ?? null, { headers: { "Content-Type": json } });
}
