import { create, fromJson, type JsonObject, type Message, toJson } from "@bufbuild/protobuf";
import { AnySchema } from "@bufbuild/protobuf/wkt";
import { ConnectError } from "@connectrpc/connect";
import { compressionGzip, createConnectTransport } from "@connectrpc/connect-node";
import type { Result } from "../probe.ts";
import { codeName, detailJson, serveCommands } from "./serve-commands.ts";

/**
 * A probe with connect-node over HTTP/2. It reads calls from stdin.
 * Usage: `node-connect.ts <address>`
 */
const [baseUrl = ""] = process.argv.slice(2);
const plain = createConnectTransport({ baseUrl, httpVersion: "2" });
const compressing = createConnectTransport({ baseUrl, httpVersion: "2", sendCompression: compressionGzip });

await serveCommands(async (command, method) => {
  const transport = command.compress ? compressing : plain;
  const request = fromJson(method.input, command.request as JsonObject);
  const leaving = new AbortController();
  const leave = setTimeout(() => leaving.abort(), command.cancel_after_ms ?? 2 ** 31 - 1);
  const messages: JsonObject[] = [];
  const note = (message: Message) => void messages.push(toJson(method.output, message) as JsonObject);
  const about = [leaving.signal, command.deadline_ms, command.metadata] as const;
  let headers: Headers | undefined;
  try {
    if (method.methodKind === "unary") {
      const response = await transport.unary(method as never, ...about, request as never);
      headers = response.header;
      note(response.message);
      return resultOf("OK", "", [], headers, response.trailer, messages);
    }
    const response = await transport.stream(method as never, ...about, only(request) as never);
    headers = response.header;
    for await (const message of response.message) {
      note(message);
      if (messages.length === command.cancel_after_messages) {
        leaving.abort();
      }
    }
    return resultOf("OK", "", [], headers, response.trailer, messages);
  } catch (thrown) {
    const error = ConnectError.from(thrown);
    const details = error.details.map((detail) => {
      if (!("type" in detail) || !("value" in detail) || !(detail.value instanceof Uint8Array)) {
        throw new Error("a detail that did not come from the service");
      }
      const typeUrl = `type.googleapis.com/${detail.type}`;
      return detailJson(create(AnySchema, { typeUrl, value: detail.value }));
    });
    // If the error arrived before any headers, its metadata are the headers.
    return headers === undefined
      ? resultOf(codeName(error.code), error.rawMessage, details, error.metadata, new Headers(), messages)
      : resultOf(codeName(error.code), error.rawMessage, details, headers, error.metadata, messages);
  } finally {
    clearTimeout(leave);
  }
});

async function* only(message: Message): AsyncIterable<Message> {
  yield message;
}

function resultOf(
  code: string,
  message: string,
  details: Result["details"],
  headers: Headers,
  trailers: Headers,
  messages: Result["messages"],
): Omit<Result, "elapsed_ms"> {
  return {
    code,
    message,
    details,
    headers: Object.fromEntries(headers),
    trailers: Object.fromEntries(trailers),
    messages,
    response_encoding: headers.get("content-encoding") ?? headers.get("connect-content-encoding"),
  };
}
