import { promisify } from "node:util";
import { brotliDecompress, gunzip, inflate } from "node:zlib";
import { KibitzError } from "../../errors/errors.ts";
import type { BodyBudget } from "../../http/body-budget.ts";
import type { NodeRequest } from "../../http/message.ts";
import { outcomeOf } from "../../request/outcome.ts";

/** Everything that was sent, or word that the caller left while sending. */
export type BodyReading = { readonly kind: "bytes"; readonly bytes: Uint8Array } | { readonly kind: "left" };

/**
 * Reads a body to its end and inflates it. Throws where it is larger than `maxBytes`, before or after
 * inflation: before reading it if Content-Length says so, else without reading on; and where there is no room for it
 * beside the others.
 */
export async function readBody(req: NodeRequest, maxBytes: number, budget: BodyBudget): Promise<BodyReading> {
  const encoding = req.headers["content-encoding"]?.trim().toLowerCase() ?? "identity";
  const inflateBytes = inflators.get(encoding);
  if (encoding !== "identity" && !inflateBytes) {
    throw new KibitzError(
      "unsupported_media_type",
      "The body's Content-Encoding is not one of gzip, br, deflate. Use one of these, or send it unencoded without that header.",
    );
  }
  if (Number(req.headers["content-length"]) > maxBytes) {
    throw tooLarge(maxBytes);
  }
  const reading = await readRaw(req, maxBytes, budget);
  if (reading.kind === "left") {
    return reading;
  }
  const outcome = outcomeOf(req);
  outcome.readBytes = reading.bytes.length;
  if (!inflateBytes) {
    return reading;
  }
  try {
    const bytes = await inflateBytes(reading.bytes, { maxOutputLength: maxBytes });
    outcome.readBytes = bytes.length;
    return { kind: "bytes", bytes };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE") {
      throw tooLarge(maxBytes);
    }
    throw new KibitzError(
      "malformed_http",
      `The body is not valid ${encoding}, although its Content-Encoding says so.`,
    );
  }
}

const inflators = new Map([
  ["gzip", promisify(gunzip)],
  ["x-gzip", promisify(gunzip)],
  ["br", promisify(brotliDecompress)],
  // In HTTP this means the zlib format, not a bare deflate stream.
  ["deflate", promisify(inflate)],
]);

function readRaw(req: NodeRequest, maxBytes: number, budget: BodyBudget): Promise<BodyReading> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const count = budget.countOf(req);
    let length = 0;
    const read = (chunk: Buffer) => {
      length += chunk.length;
      try {
        if (length > maxBytes) {
          throw tooLarge(maxBytes);
        }
        count(chunk.length);
        chunks.push(chunk);
      } catch (error) {
        // Who answers decides what becomes of the rest.
        req.pause().off("data", read);
        reject(error);
      }
    };
    req.on("data", read);
    // A broken HTTP/2 stream ends its request, too: the end alone does not prove that all has come.
    req.on("aborted", () => resolve({ kind: "left" }));
    req.on("error", () => resolve({ kind: "left" }));
    req.on("end", () => {
      const [first] = chunks;
      resolve({ kind: "bytes", bytes: chunks.length === 1 && first ? first : Buffer.concat(chunks) });
    });
    req.on("close", () => resolve({ kind: "left" }));
  });
}

function tooLarge(maxBytes: number): KibitzError {
  return new KibitzError(
    "body_too_large",
    `The body is larger than ${maxBytes} bytes, the maximum for this call.`,
  );
}
