import type { Http2ServerResponse } from "node:http2";
import { type DescMessage, type Message, toBinary } from "@bufbuild/protobuf";
import { type Compression, encodeEnvelope, envelopeCompress } from "@connectrpc/connect/protocol";
import { contentTypeProto, headerEncoding } from "@connectrpc/connect/protocol-grpc";
import type { RequestOutcome } from "../../../request/context.ts";
import { packedFromBytes } from "../compressions.ts";
import type { CallTerms } from "./call.ts";

/** Begins an answer, whose status comes at its end. */
export function sendHead(
  res: Http2ServerResponse,
  { packing }: CallTerms,
  { answerHeaders }: RequestOutcome,
): void {
  res.writeHead(200, {
    "content-type": contentTypeProto,
    ...(packing && { [headerEncoding]: packing.name }),
    ...Object.fromEntries(answerHeaders),
  });
}

/** A message as it is sent: behind its flags and its length, and packed where that is worth it. */
export function envelopeOf(
  desc: DescMessage,
  message: Message,
  { packing }: CallTerms,
): Uint8Array | Promise<Uint8Array> {
  const data = toBinary(desc, message);
  return packing && data.length >= packedFromBytes ? packed(data, packing) : encodeEnvelope(0, data);
}

async function packed(data: Uint8Array, packing: Compression): Promise<Uint8Array> {
  const { flags, data: less } = await envelopeCompress({ flags: 0, data }, packing, 0);
  return encodeEnvelope(flags, less);
}

/** Ends an answer, with its only or last message if there is one left. */
export function endWith(
  res: Http2ServerResponse,
  trailers: Readonly<Record<string, string>>,
  last?: Uint8Array,
): void {
  res.addTrailers(trailers);
  if (last) {
    res.end(last);
  } else {
    res.end();
  }
}
