import { fromBinary, fromJson, type JsonObject, type Message, toBinary, toJson } from "@bufbuild/protobuf";
import { Client, compressionAlgorithms, credentials, Metadata } from "@grpc/grpc-js";
import { StatusSchema } from "../../../gen/google/rpc/status_pb.ts";
import type { Result } from "../probe.ts";
import { codeName, detailJson, serveCommands } from "./serve-commands.ts";

/**
 * A probe with @grpc/grpc-js. It reads calls from stdin.
 * Usage: `node-grpc-js.ts <address>`
 */
const [address = ""] = process.argv.slice(2);
const { host } = new URL(address);
const plain = new Client(host, credentials.createInsecure());
const compressing = new Client(host, credentials.createInsecure(), {
  "grpc.default_compression_algorithm": compressionAlgorithms.gzip,
});

await serveCommands(async (command, method) => {
  const client = command.compress ? compressing : plain;
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(command.metadata ?? {})) {
    metadata.set(name, value);
  }
  const about = [
    `/${method.parent.typeName}/${method.name}`,
    (message: Message) => Buffer.from(toBinary(method.input, message)),
    (bytes: Buffer) => fromBinary(method.output, bytes),
    fromJson(method.input, command.request as JsonObject),
    metadata,
    command.deadline_ms === undefined ? {} : { deadline: Date.now() + command.deadline_ms },
  ] as const;

  return new Promise((resolve) => {
    const messages: JsonObject[] = [];
    let headers = new Metadata();
    const note = (message: Message) => void messages.push(toJson(method.output, message) as JsonObject);
    const call =
      method.methodKind === "unary"
        ? client.makeUnaryRequest(...about, (_error, answer) => answer && note(answer))
        : client.makeServerStreamRequest(...about);
    const leave = setTimeout(() => call.cancel(), command.cancel_after_ms ?? 2 ** 31 - 1);
    call.on("metadata", (received) => {
      headers = received;
    });
    call.on("data", (message) => {
      note(message);
      if (messages.length === command.cancel_after_messages) {
        call.cancel();
      }
    });
    // The status event follows every call and contains the error, too.
    call.on("error", () => {});
    call.on("status", ({ code, details: message, metadata: trailers }) => {
      clearTimeout(leave);
      // grpc-js emits the response of a unary call after the status.
      setImmediate(() =>
        resolve({
          code: codeName(code),
          message: codeName(code) === "OK" ? "" : message,
          details: detailsOf(trailers),
          headers: plainFrom(headers),
          trailers: plainFrom(trailers),
          messages,
          response_encoding: null,
        }),
      );
    });
  });
});
plain.close();
compressing.close();

function detailsOf(trailers: Metadata): Result["details"] {
  const [status] = trailers.get("grpc-status-details-bin");
  return status instanceof Uint8Array ? fromBinary(StatusSchema, status).details.map(detailJson) : [];
}

function plainFrom(metadata: Metadata): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(metadata.getMap()).map(([name, value]) => [name, String(value)]));
}
