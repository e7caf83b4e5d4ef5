import { type DescMethod, fromJson, type JsonObject, toBinary } from "@bufbuild/protobuf";
import { envelope } from "./envelope.ts";

export type RpcProtocol = "connect" | "grpc" | "grpc-web";
export type Codec = "json" | "proto";

/** A request in plain JSON. A text or bytes are sent unchanged. */
export type Message = JsonObject | string | Buffer;

export interface EncodedCall {
  readonly path: string;
  readonly contentType: string;
  readonly body: Buffer<ArrayBuffer>;
}

/**
 * Encodes a call as a client of the protocol does, so that tests can also send calls that no client sends.
 * @param flags the flags of the envelope; a unary call of Connect has no envelope
 */
export function encodeCall(
  protocol: RpcProtocol,
  codec: Codec,
  method: DescMethod,
  message: Message,
  flags = 0,
): EncodedCall {
  const isBare = protocol === "connect" && method.methodKind === "unary";
  const bytes = Buffer.from(bytesOf(codec, method, message));
  return {
    path: `/${method.parent.typeName}/${method.name}`,
    contentType: `application/${isBare ? "" : `${protocol}+`}${codec}`,
    body: isBare ? bytes : envelope(bytes, flags),
  };
}

function bytesOf(codec: Codec, { input }: DescMethod, message: Message): Uint8Array | string {
  if (isRaw(message)) {
    return message;
  }
  return codec === "json" ? JSON.stringify(message) : toBinary(input, fromJson(input, message));
}

export function isRaw(message: Message): message is string | Buffer {
  return typeof message === "string" || message instanceof Buffer;
}
