import { KibitzError } from "../../errors/errors.ts";
import { echo } from "../../text/plain-text.ts";
import type { NodeRequest, NodeResponse } from "../message.ts";

/**
 * Refuses what Node lets pass, and makes sure that `new URL(req.url, "http://" + host)` cannot throw: Connect
 * calls it outside of any try, and one request with `Host: [` ended the process (repair `guardHost`).
 *
 * To be asked behind {@link takeAbsoluteTarget}. Afterwards `req.headers.host` is there for every version, and the target
 * is a path with its query, or `*`.
 */
export function checkRequest(req: NodeRequest, headersMaxBytes: number): void {
  if (req.method === "CONNECT") {
    throw malformed("CONNECT is for proxies, and this is not one.");
  }
  if (req.headers.expect !== undefined && req.headers.expect.toLowerCase() !== "100-continue") {
    throw malformed("The only supported Expect header is 100-continue.");
  }
  checkHeaders(req, headersMaxBytes);
  if (!("stream" in req)) {
    checkHttp1(req);
  }
  const host = "authority" in req ? req.authority : req.headers.host;
  if (host === undefined && req.httpVersion === "1.1") {
    throw malformed("The request has no Host header, which HTTP/1.1 requires.");
  }
  if (host && (/[\s/?#@\\]/.test(host) || !URL.canParse(`http://${host}`))) {
    throw malformed(`The host "${echo(host)}" is not a name or address with a port.`);
  }
  // HTTP/1.0 need not say a host, and the health checks of load balancers do not.
  req.headers.host = host || "localhost";
  if (!req.url?.startsWith("/") && req.url !== "*") {
    throw malformed(`The request target "${echo(req.url ?? "")}" is not a path.`);
  }
}

/** Headers of which Node keeps the first and drops the others without a word, where a proxy may believe the last. */
const onlyOnce: readonly string[] = ["host", "authorization", "content-type"];
const onlyOnceLengths: ReadonlySet<number> = new Set(onlyOnce.map(({ length }) => length));

/** Refuses twice what may stand once (RFC 9110 section 5.3), and more than `maxHeaderListSize`: Node lets 64 KiB of HTTP/2 pass. */
function checkHeaders({ rawHeaders }: NodeRequest, headersMaxBytes: number): void {
  const seen = new Set<string>();
  let bytes = 0;
  for (const [index, text] of rawHeaders.entries()) {
    bytes += text.length;
    if (index % 2 === 0 && onlyOnceLengths.has(text.length)) {
      const name = text.toLowerCase();
      if (seen.has(name)) {
        throw malformed(`The request has more than one ${text} header.`);
      }
      if (onlyOnce.includes(name)) {
        seen.add(name);
      }
    }
  }
  if (bytes > headersMaxBytes) {
    throw new KibitzError("headers_too_large", "The request headers are larger than 16 KiB.");
  }
}

/** What Node's parser lets pass of HTTP/1: requests that call themselves 0.9 or 2.0, and framings that it does not undo. */
function checkHttp1({ httpVersion, headers }: NodeRequest): void {
  if (httpVersion !== "1.1" && httpVersion !== "1.0") {
    throw malformed("The request is neither HTTP/1.1 nor HTTP/1.0. HTTP/2 starts with its own preface.");
  }
  const coding = headers["transfer-encoding"];
  if (coding === undefined) {
    return;
  }
  // RFC 9112 section 6.1: such a message is to be treated as if its framing were faulty.
  if (httpVersion === "1.0") {
    throw malformed("HTTP/1.0 has no Transfer-Encoding.");
  }
  // RFC 9112 section 6.1: 501 for a transfer coding that is not understood.
  if (coding.toLowerCase() !== "chunked") {
    throw new KibitzError("unimplemented", "The only supported Transfer-Encoding is chunked.");
  }
}

/** RFC 9112 section 3.2.2: servers accept the target that is meant for proxies, and its host counts. */
export function takeAbsoluteTarget(req: NodeRequest): void {
  if (req.url?.startsWith("/")) {
    return;
  }
  const absolute = /^https?:\/\/([^/?#]*)(.*)$/i.exec(req.url ?? "");
  if (absolute === null) {
    return;
  }
  const [, host, rest = ""] = absolute;
  req.headers.host = host;
  req.url = rest.startsWith("/") ? rest : `/${rest}`;
}

function malformed(detail: string): KibitzError {
  return new KibitzError("malformed_http", detail);
}

/**
 * Says 100 Continue when somebody begins to read the body, and not before: who is refused by the headers alone is to
 * be told so at once, without being asked for the body (RFC 9110 section 10.1.1). By itself Node asks for it always.
 */
export function continueWhenRead(req: NodeRequest, res: NodeResponse): void {
  const listen = (event: string | symbol) => {
    if (event !== "data" && event !== "readable") {
      return;
    }
    req.off("newListener", listen);
    // What is read behind an answer is thrown away.
    if (!res.headersSent) {
      res.writeContinue();
    }
  };
  req.on("newListener", listen);
}
