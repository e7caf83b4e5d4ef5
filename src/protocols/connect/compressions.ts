import type { Compression } from "@connectrpc/connect/protocol";
import { compressionGzip } from "@connectrpc/connect-node";
import { compressionBrotli } from "./repairs.ts";

/** What requests may be packed in, and answers are, where their readers say so. */
export const compressions: readonly Compression[] = [compressionGzip, compressionBrotli];

/** Messages that are shorter are not packed, whatever their readers say. */
export const packedFromBytes = 1024;

/** The flag of an envelope whose message is packed. */
export const compressedFlag = 1;

/** How a request is packed, by the one header that its protocol has for it: Connect looks at no other. */
export function encodingOf(header: Headers): { readonly isOfBody: boolean; readonly name: string | null } {
  const type = header.get("content-type") ?? "";
  const [, protocol] = /^application\/(grpc|connect)\b/i.exec(type) ?? [];
  switch (protocol?.toLowerCase()) {
    case "grpc":
      return { isOfBody: false, name: header.get("grpc-encoding") };
    case "connect":
      return { isOfBody: false, name: header.get("connect-content-encoding") };
    default:
      return { isOfBody: true, name: header.get("content-encoding") };
  }
}

/** What an envelope would say of a message that has none. */
export function flagsOf(encoding: string | null): number {
  return encoding === null || encoding === "identity" ? 0 : compressedFlag;
}

/** The message as it was before it was compressed; undefined where Connect is to say what is wrong with it. */
export async function inflated(
  data: Uint8Array,
  flags: number,
  encoding: string | null,
  maxBytes: number,
): Promise<Uint8Array | undefined> {
  if ((flags & compressedFlag) === 0) {
    return data;
  }
  const compression = compressions.find(({ name }) => name === encoding);
  return compression?.decompress(data, maxBytes).catch(() => undefined);
}
