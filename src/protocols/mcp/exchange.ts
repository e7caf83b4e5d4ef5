import { createMcpHandler, SUPPORTED_PROTOCOL_VERSIONS } from "@modelcontextprotocol/server";
import { KibitzError } from "../../errors/errors.ts";
import { type NodeRequest, preferredType } from "../../http/message.ts";
import { echo } from "../../text/echo.ts";
import type { Plain } from "../../text/json.ts";
import { refusedAnswer } from "./refusals.ts";
import { createServer, type Peer } from "./server.ts";

/** Only these headers are passed to the SDK, so that the SDK never gets an API key. */
const passed = ["mcp-protocol-version", "mcp-method", "mcp-name"];

const json = "application/json";
const events = "text/event-stream";

/** Passes one message to a new server of the SDK. Throws a KibitzError `not_acceptable`, or the error of the SDK. */
export async function exchange(
  { headers }: Pick<NodeRequest, "headers">,
  message: Plain,
  peer: Peer,
  version: string,
  form = formOf(headers.accept, message),
): Promise<Response> {
  const requestedVersion = headers["mcp-protocol-version"];
  // The SDK checks this header for all messages except `initialize`, the first message of a client.
  if (
    message.method === "initialize" &&
    requestedVersion !== undefined &&
    !versions.includes(String(requestedVersion))
  ) {
    const text = `Unsupported protocol version: ${echo(String(requestedVersion))} (supported versions: ${versions.join(", ")})`;
    return Response.json(refusedAnswer(unsupportedVersion, text), { status: 400 });
  }
  /** The last error that the SDK has reported. The SDK may report several errors, and the last error belongs to the answer. */
  let error: Error | undefined;
  const handler = createMcpHandler(() => createServer(peer, version), {
    onerror(reported) {
      error = reported;
    },
    ...(form === "events" && { responseMode: "sse" }),
  });
  // The SDK would reject a message whose Accept header does not name both types.
  const shown = new Headers({ Accept: `${json}, ${events}`, "Content-Type": json });
  for (const name of passed.filter((name) => name in headers)) {
    shown.set(name, String(headers[name]));
  }
  const request = new Request("http://localhost/mcp", { method: "POST", headers: shown, signal: peer.left });
  const response = await handler.fetch(request, { parsedBody: message });
  if (response.status >= 500) {
    throw error ?? new Error(`the SDK has answered with the status ${response.status}`);
  }
  // Do not convert a subscription, which is a stream of events without an end.
  return form === "json" && message.method !== "subscriptions/listen" ? asJson(response) : response;
}

/** Clients of the first versions begin with `initialize`. Clients of `2026-07-28` do not send this message. */
const versions: readonly string[] = [...SUPPORTED_PROTOCOL_VERSIONS, "2026-07-28"];

/** Kibitz and the SDK reject an unknown protocol version with this error code. */
const unsupportedVersion = -32_000;

/**
 * Many clients that accept every type can read only JSON. So a client gets events only if its Accept header names events or if
 * it requests progress. Throws a KibitzError if the client accepts neither.
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

/** Converts a response with events to a response with JSON. The answer is the last event. */
async function asJson(response: Response): Promise<Response> {
  if (response.headers.get("content-type") !== events) {
    return response;
  }
  const answer = (await response.text()).split("\n").findLast((line) => line.startsWith("data: "));
  // If there is no answer, the client has disconnected.
  return new Response(answer?.slice("data: ".length) ?? null, { headers: { "Content-Type": json } });
}
