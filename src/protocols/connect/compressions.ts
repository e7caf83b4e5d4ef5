import { Code, ConnectError, type HandlerContext } from "@connectrpc/connect";
import type { Compression } from "@connectrpc/connect/protocol";
import { compressionGzip } from "@connectrpc/connect-node";
import { compressionBrotli } from "./workarounds.ts";

/** Codings of requests. No brotli: 39 bytes of it make the decoder allocate 16 MB. */
export const requestCompression: Compression = compressionGzip;

/** Codings of answers, if the client accepts them. */
export const answerCompressions: readonly Compression[] = [compressionGzip, compressionBrotli];

/** Messages that are shorter are not packed, whatever their readers say. */
export const packedFromBytes = 1024;

/** The flag of an envelope whose message is packed. */
export const compressedFlag = 1;

/** How a request is packed. */
interface RequestEncoding {
  /** True if the coding applies to the body as a whole, and not to each message. */
  readonly isOfBody: boolean;
  readonly name: string | null;
  /** The headers that say so, and what its sender accepts: Connect looks at no others. */
  readonly nameHeader: string;
  readonly acceptHeader: string;
}

export function encodingOf(header: Headers): RequestEncoding {
  const type = header.get("content-type") ?? "";
  const [, protocol] = /^application\/(grpc|connect)\b/i.exec(type) ?? [];
  const prefix = protocol === undefined ? "" : `${protocol.toLowerCase()}-`;
  const nameHeader = prefix === "grpc-" ? "grpc-encoding" : `${prefix}content-encoding`;
  const name = header.get(nameHeader);
  return { isOfBody: prefix === "", name, nameHeader, acceptHeader: `${prefix}accept-encoding` };
}

/**
 * Refuses a request that is packed in anything but gzip, by its headers alone. Connect accepts of requests what it offers
 * for answers.
 *
 * @throws ConnectError in Connect's words for it
 */
export function refuseEncoding({ requestMethod, requestHeader, responseHeader, url }: HandlerContext): void {
  const { name, acceptHeader } = encodingOf(requestHeader);
  const asked = requestMethod === "GET" ? new URL(url).searchParams.get("compression") : name;
  if (asked !== null && asked !== "identity" && asked !== requestCompression.name) {
    responseHeader.set(acceptHeader, requestCompression.name);
    const text = `unknown compression "${asked}": supported encodings are ${requestCompression.name}`;
    throw new ConnectError(text, Code.Unimplemented);
  }
}
