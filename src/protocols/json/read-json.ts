import { promisify } from "node:util";
import { gunzip, inflate } from "node:zlib";
import { parse } from "content-type";
import type { AdmittedCall } from "../../access/admit-call.ts";
import { errorFromFaults, type Fault, KibitzError } from "../../errors/errors.ts";
import { type BodyBudget, readBytes } from "../../http/body-budget.ts";
import type { NodeRequest } from "../../http/message.ts";
import { CallerLeft, contextOf, outcomeOf } from "../../request/context.ts";
import { pointerStep } from "../../text/json-pointer.ts";
import { echo } from "../../text/plain-text.ts";
import { textFromBytes } from "./json-text.ts";

/**
 * Reads the text of a body that says that it is JSON.
 *
 * @throws KibitzError; CallerLeft if the client disconnects before its end
 */
export async function readJsonText(
  req: NodeRequest,
  admitted: Pick<AdmittedCall, "check">,
  maxBytes: number,
  bodies: BodyBudget,
): Promise<string> {
  refuseQuery(req.url);
  if (!isJson(req.headers["content-type"])) {
    throw notJson(req.headers["content-type"]);
  }
  const bytes = await readBody(req, maxBytes, bodies);
  // While it was sent, other requests of the same caller may have been refused.
  admitted.check();
  return textFromBytes(bytes);
}

function notJson(contentType: string | undefined): KibitzError {
  const isGrpc = contentType?.trim().toLowerCase().startsWith("application/grpc");
  const elsewhere = isGrpc
    ? " gRPC-Web is served as application/grpc-web and application/grpc-web+proto and application/grpc-web+json, at the paths of its calls: /chess.analysis.v1.AnalysisService/Evaluate."
    : "";
  return new KibitzError(
    "unsupported_media_type",
    `${contentType === undefined ? "The request has no Content-Type" : "The Content-Type is not JSON in UTF-8"}: add the header, in curl with -H 'Content-Type: application/json'.${elsewhere}`,
  );
}

/**
 * Reads a body to its end and inflates it. A body that is larger than `maxBytes`, before or after inflation, is refused: before reading
 * it if Content-Length says so, else without reading on.
 */
async function readBody(req: NodeRequest, maxBytes: number, budget: BodyBudget): Promise<Uint8Array> {
  const outcome = outcomeOf(req);
  const encoding = req.headers["content-encoding"]?.trim().toLowerCase() ?? "identity";
  const inflateBytes = inflators.get(encoding);
  if (encoding !== "identity" && !inflateBytes) {
    // RFC 9110 section 15.5.16.
    outcome.answerHeaders.set("accept-encoding", "gzip, deflate");
    throw new KibitzError(
      "unsupported_media_type",
      `The body's Content-Encoding is "${echo(encoding)}", and only gzip and deflate are accepted. Use one of these, or send the body unencoded without that header.`,
    );
  }
  if (Number(req.headers["content-length"]) > maxBytes) {
    throw tooLarge(maxBytes);
  }
  const count = budget.countOf(contextOf(req), outcome);
  try {
    const sent = await readBytes(req, maxBytes, count);
    if (sent === undefined) {
      throw tooLarge(maxBytes);
    }
    outcome.readBytes = sent.length;
    if (!inflateBytes) {
      return sent;
    }
    const inflated = () => inflateBytes(sent, { maxOutputLength: maxBytes });
    const bytes = await budget.inflate(sent, inflated, { outcome, count });
    outcome.readBytes = bytes.length;
    return bytes;
  } catch (error) {
    if (error instanceof CallerLeft) {
      outcome.code ??= "canceled";
      throw error;
    }
    if (error instanceof KibitzError) {
      throw error;
    }
    if ((error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE") {
      throw tooLarge(maxBytes);
    }
    throw new KibitzError(
      "malformed_http",
      `The body is not valid ${encoding}, although its Content-Encoding says so.`,
    );
  }
}

/** Not brotli: 39 bytes of it make its decoder take 16 MB. */
const inflators = new Map([
  ["gzip", promisify(gunzip)],
  ["x-gzip", promisify(gunzip)],
  // In HTTP this means the zlib format, not a bare deflate stream.
  ["deflate", promisify(inflate)],
]);

function tooLarge(maxBytes: number): KibitzError {
  return new KibitzError(
    "body_too_large",
    `The body is larger than ${maxBytes} bytes, the maximum for this call.`,
  );
}

/** True if a Content-Type means JSON in UTF-8. Other parameters than the charset are ignored. */
export function isJson(contentType: string | undefined): boolean {
  if (contentType === "application/json") {
    return true;
  }
  const { type, parameters } = parse(contentType ?? "");
  return type === "application/json" && /^utf-?8$/i.test(parameters.charset ?? "utf-8");
}

/**
 * Refuses all fields in the query of a URL, for calls that read their body alone: without effect, `?depth=5` would be answered at another
 * depth than the caller wants.
 */
function refuseQuery(url = ""): void {
  const names = new Set(new URLSearchParams(queryOf(url)).keys());
  const faults = [...names].map(faultOfParameter);
  if (faults.length > 0) {
    throw errorFromFaults(faults);
  }
}

/** With the place in the body where the field belongs. */
function faultOfParameter(name: string): Fault {
  const pointer = pointerStep(name);
  const message = `This call takes no query parameters, but the URL has \`${echo(name)}\`: put fields in the JSON body instead.`;
  return { pointer, code: "unknown_field", message };
}

/** The query of a URL, without its question mark. */
export function queryOf(url: string): string {
  const start = url.indexOf("?");
  return start === -1 ? "" : url.slice(start + 1);
}
