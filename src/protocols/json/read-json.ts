import { promisify } from "node:util";
import { gunzip, inflate } from "node:zlib";
import { parse } from "content-type";
import type { AdmittedCall } from "../../access/admit-call.ts";
import { jsonFromBytes } from "../../calls/bound-request.ts";
import { costOfBytes, errorFromViolations, KibitzError, type Violation } from "../../errors/errors.ts";
import { type BodyBudget, readBytes } from "../../http/body-budget.ts";
import type { NodeRequest } from "../../http/message.ts";
import { ClientDisconnected, contextOf, outcomeOf } from "../../request/context.ts";
import { echo } from "../../text/echo.ts";
import { pointerStep } from "../../text/json-pointer.ts";

/** Reads a JSON body. Throws a KibitzError, or ClientDisconnected if the client disconnects before the end of the body. */
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
  // Check again, because other requests of the same caller may have been rejected since the first check.
  admitted.check();
  return jsonFromBytes(bytes);
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

/** Reads and decompresses a body. Rejects the body as soon as its size exceeds `maxBytes`, before or after decompression. */
async function readBody(req: NodeRequest, maxBytes: number, budget: BodyBudget): Promise<Uint8Array> {
  const outcome = outcomeOf(req);
  const encoding = req.headers["content-encoding"]?.trim().toLowerCase() ?? "identity";
  const inflateBytes = inflators.get(encoding);
  if (encoding !== "identity" && !inflateBytes) {
    // The response must name the supported codings (RFC 9110 section 15.5.16).
    outcome.answerHeaders.set("accept-encoding", "gzip, deflate");
    throw new KibitzError(
      "unsupported_media_type",
      `The body's Content-Encoding is ${echo(encoding, '"')}, and only gzip and deflate are accepted. Use one of these, or send the body unencoded without that header.`,
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
    outcome.workCost = costOfBytes(sent.length);
    if (!inflateBytes) {
      return sent;
    }
    const inflated = () => inflateBytes(sent, { maxOutputLength: maxBytes });
    const bytes = await budget.inflate(sent, inflated, { outcome, count });
    outcome.readBytes = bytes.length;
    outcome.workCost = costOfBytes(bytes.length);
    return bytes;
  } catch (error) {
    if (error instanceof ClientDisconnected) {
      outcome.code ??= "canceled";
      throw error;
    }
    if (error instanceof KibitzError) {
      throw error;
    }
    if ((error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE") {
      throw tooLarge(maxBytes);
    }
    if (!isInvalidData(error)) {
      throw error;
    }
    throw new KibitzError(
      "malformed_http",
      `The body is not valid ${encoding}, although its Content-Encoding says so.`,
    );
  }
}

function isInvalidData(error: unknown): boolean {
  // Node gives an error of zlib the name of zlib's return code, such as Z_DATA_ERROR, or Z_BUF_ERROR if the data end too early.
  return error instanceof Error && "code" in error && /^Z_(DATA|BUF|NEED)/.test(String(error.code));
}

/** Brotli is not supported, because 39 bytes of Brotli make the decoder allocate 16 MB. */
const inflators = new Map([
  ["gzip", promisify(gunzip)],
  ["x-gzip", promisify(gunzip)],
  // In HTTP, the coding `deflate` means the zlib format and not a raw deflate stream.
  ["deflate", promisify(inflate)],
]);

function tooLarge(maxBytes: number): KibitzError {
  return new KibitzError(
    "body_too_large",
    `The body is larger than ${maxBytes} bytes, the maximum for this call.`,
  );
}

/** True if the Content-Type means JSON in UTF-8. Ignores all parameters except `charset`. */
export function isJson(contentType: string | undefined): boolean {
  if (contentType === "application/json") {
    return true;
  }
  const { type, parameters } = parse(contentType ?? "");
  return type === "application/json" && /^utf-?8$/i.test(parameters.charset ?? "utf-8");
}

/** Rejects query parameters. If the service ignored `?depth=5`, the client would get an answer with a different depth. */
function refuseQuery(url = ""): void {
  const names = new Set(new URLSearchParams(queryOf(url)).keys());
  const violations = [...names].map(violationOfParameter);
  if (violations.length > 0) {
    throw errorFromViolations(violations);
  }
}

/** Returns the violation for a query parameter. The JSON pointer shows where the field belongs in the body. */
function violationOfParameter(name: string): Violation {
  const pointer = pointerStep(name);
  const message = `This call takes no query parameters, but the URL has ${echo(name, "`")}: put fields in the JSON body instead.`;
  return { pointer, code: "unknown_field", message };
}

export function queryOf(url: string): string {
  const start = url.indexOf("?");
  return start === -1 ? "" : url.slice(start + 1);
}
