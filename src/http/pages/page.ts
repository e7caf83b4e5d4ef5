import { createHash } from "node:crypto";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import Negotiator from "negotiator";
import { KibitzError } from "../../errors/errors.ts";
import { contextOf } from "../../request/context.ts";
import { addVary, endInParts, isNotModified, type NodeRequest, type NodeResponse } from "../message.ts";
import { sendProblem } from "../send-problem.ts";

export interface Page {
  readonly contentType: string;
  /** A buffer, because a string would be encoded anew for each answer, and the copy would wait in memory until it is read. */
  readonly body: Buffer;
  readonly headers?: Readonly<Record<string, string>>;
  readonly vary?: string;
}

/** The content codings. The coding with the smallest files is first. */
const codings = ["br", "gzip", "identity"] as const;

export type Coding = (typeof codings)[number];

/** The same page in each coding. */
export type CodedPage = Readonly<Record<Coding, Page>>;

/** A longer Accept-Encoding header is not parsed, because parsing long headers takes milliseconds. */
const acceptMaxLength = 200;

/** Returns the page in the smallest coding that the client accepts. */
export function pageFor({ headers }: NodeRequest, page: CodedPage): Page {
  const accept = headers["accept-encoding"];
  if (typeof accept !== "string" || accept.length > acceptMaxLength) {
    return page.identity;
  }
  const accepted = new Negotiator({ headers: { "accept-encoding": accept } }).encodings([...codings]);
  return page[codings.find((coding) => accepted.includes(coding)) ?? "identity"];
}

/** A higher quality of Brotli would compress the largest page by 5 % more, and would take seconds instead of 0.1 s. */
const brotliQuality = 5;

/** Compresses a page once, so that no answer is compressed. Each coding has an ETag of its own. */
export async function compressedPage(
  contentType: string,
  body: Buffer,
  headers: Page["headers"] = {},
): Promise<CodedPage> {
  const params = { [constants.BROTLI_PARAM_QUALITY]: brotliQuality };
  const [br, gzipped] = await Promise.all([
    promisify(brotliCompress)(body, { params }),
    promisify(gzip)(body),
  ]);
  const vary = "Accept-Encoding";
  const identity = { ...pageWithTag(contentType, body, headers), vary };
  const coded = (packed: Buffer, coding: Coding): Page =>
    packed.length < body.length
      ? { ...pageWithTag(contentType, packed, { ...headers, "Content-Encoding": coding }), vary }
      : identity;
  return { br: coded(br, "br"), gzip: coded(gzipped, "gzip"), identity };
}

/** Creates a page with an ETag. Browsers must revalidate the page at every visit. */
export function pageWithTag(contentType: string, body: Buffer, headers: Page["headers"] = {}): Page {
  const digest = createHash("sha256").update(body).digest("base64url");
  return {
    contentType,
    body,
    headers: {
      "Cache-Control": "no-cache",
      ETag: `"${digest.slice(0, 22)}"`,
      "Referrer-Policy": "no-referrer",
      ...headers,
    },
  };
}

export function answerGet(req: NodeRequest, res: NodeResponse, page: Page): void {
  const { id, path } = contextOf(req);
  if (req.method !== "GET" && req.method !== "HEAD") {
    const error = new KibitzError("method_not_allowed", `${path} supports only GET and HEAD.`);
    sendProblem(req, res, error, [["Allow", "GET, HEAD"]]);
    return;
  }
  res.setHeader("X-Request-Id", id);
  res.setHeader("X-Content-Type-Options", "nosniff");
  for (const [name, value] of Object.entries(page.headers ?? {})) {
    res.setHeader(name, value);
  }
  if (page.vary !== undefined) {
    addVary(res, page.vary);
  }
  if (isNotModified(req, page.headers?.ETag)) {
    res.statusCode = 304;
    res.end();
    return;
  }
  res.setHeader("Content-Type", page.contentType);
  res.setHeader("Content-Length", page.body.length);
  if (req.method === "HEAD") {
    res.end();
  } else {
    endInParts(res, page.body);
  }
}
