import { promisify } from "node:util";
import { gunzip, inflate } from "node:zlib";
import type { DescMessage } from "@bufbuild/protobuf";
import { parse } from "content-type";
import type { Entry } from "../../access/entrance.ts";
import { boundParts } from "../../calls/bound-request.ts";
import { requestMaxBytes } from "../../calls/policy.ts";
import { costOfBytes, errorFromFaults, type Fault, KibitzError, withCost } from "../../errors/errors.ts";
import { type BodyBudget, readBytes } from "../../http/body-budget.ts";
import type { NodeRequest } from "../../http/message.ts";
import { CallerLeft, contextOf, outcomeOf } from "../../request/context.ts";
import { pointerStep } from "../../text/json-pointer.ts";
import { countJson } from "../../text/json-scan.ts";
import { echo } from "../../text/plain-text.ts";
import { readJsonObject } from "./json-text.ts";

type Plain = Readonly<Record<string, unknown>>;

/** The JSON object of a body, or `left`: the client has disconnected. */
type JsonReading = { readonly kind: "json"; readonly sent: Plain } | { readonly kind: "left" };

/**
 * The reader of bodies that are one JSON object. It throws a KibitzError for what is none.
 *
 * @param wanted what to send, for the error of other bodies
 */
export function createJsonReader(
  wanted: string,
  maxBytes: number,
  bodies: BodyBudget,
): (req: NodeRequest, entry: Pick<Entry, "check">) => Promise<JsonReading> {
  return async (req, entry) => {
    const body = await readJsonBody(req, maxBytes, bodies);
    if (body.kind === "left") {
      return body;
    }
    // While it was sent, others of the same caller may have been refused.
    entry.check();
    if (body.bytes.length > requestMaxBytes) {
      boundParts(countJson(Buffer.from(body.bytes).toString("latin1")), body.bytes.length);
    }
    const json = readJsonObject(body.bytes, wanted);
    if (json.kind === "faults") {
      throw errorFromText(json.faults, body.bytes.length);
    }
    return { kind: "json", sent: json.value };
  };
}

/** The bytes of a body that says to be JSON. @throws KibitzError */
export function readJsonBody(req: NodeRequest, maxBytes: number, bodies: BodyBudget): Promise<BodyReading> {
  refuseQuery(req.url);
  if (!isJson(req.headers["content-type"])) {
    throw notJson(req.headers["content-type"]);
  }
  return readBody(req, maxBytes, bodies);
}

/** The error for a rejected text, which costs the more the longer the text is. */
export function errorFromText(faults: readonly Fault[], length: number): KibitzError {
  return withCost(errorFromFaults(faults), costOfBytes(length));
}

/** Describes the body of a call, by an example that is answered. */
export function describeBody(desc: DescMessage): string {
  return `a JSON object such as ${JSON.stringify(exampleOf(desc))}`;
}

const positions: Readonly<Record<string, string>> = { fen: "startpos", pgn: "1. e4 e5" };

/** A short request: the first field of those that hold a position, a game or other requests. */
export function exampleOf({ fields }: DescMessage): Plain {
  for (const { name, message, fieldKind } of fields) {
    const position = positions[name];
    if (position !== undefined) {
      return { [name]: position };
    }
    if (fieldKind === "list" && message) {
      return { [name]: [exampleOf(message)] };
    }
  }
  return {};
}

function notJson(contentType: string | undefined): KibitzError {
  return new KibitzError(
    "unsupported_media_type",
    `${contentType === undefined ? "The request has no Content-Type" : "The Content-Type is not JSON in UTF-8"}: add the header, in curl with -H 'Content-Type: application/json'.`,
  );
}

/** The bytes of a body, or `left`: the client disconnected before its end. */
type BodyReading = { readonly kind: "bytes"; readonly bytes: Uint8Array } | { readonly kind: "left" };

/**
 * Reads a body to its end and inflates it. Throws where it is larger than `maxBytes`, before or after
 * inflation: before reading it if Content-Length says so, else without reading on; and where there is no room for it
 * beside the others.
 */
export async function readBody(req: NodeRequest, maxBytes: number, budget: BodyBudget): Promise<BodyReading> {
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
      return { kind: "bytes", bytes: sent };
    }
    const inflated = () => inflateBytes(sent, { maxOutputLength: maxBytes });
    const bytes = await budget.inflate(sent, inflated, { outcome, count });
    outcome.readBytes = bytes.length;
    return { kind: "bytes", bytes };
  } catch (error) {
    if (error instanceof CallerLeft) {
      outcome.code ??= "canceled";
      return { kind: "left" };
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
  return type === "application/json" && (parameters.charset ?? "utf-8").toLowerCase() === "utf-8";
}

/**
 * Throws a KibitzError that names all fields which stand in the query of a URL, for calls that read their body
 * alone: without effect, `?depth=5` would be answered at another depth than was asked for.
 */
function refuseQuery(url: string | undefined): void {
  const start = url?.indexOf("?") ?? -1;
  if (start === -1) {
    return;
  }
  const names = new Set(new URLSearchParams(url?.slice(start + 1)).keys());
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
