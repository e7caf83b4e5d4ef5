import { KibitzError } from "../../errors/errors.ts";
import { echo } from "../../text/echo.ts";
import type { NodeRequest } from "../message.ts";

/** Replaces an absolute request target with its path, and the Host header with the target's host (RFC 9112 section 3.2.2). */
export function takeAbsoluteTarget(req: NodeRequest): void {
  if (req.url?.startsWith("/")) {
    return;
  }
  const absolute = /^https?:\/\/([^/?#]+)(.*)$/i.exec(req.url ?? "");
  if (absolute === null) {
    return;
  }
  const [, host, rest = ""] = absolute;
  req.headers.host = host;
  req.url = rest.startsWith("/") ? rest : `/${rest}`;
}

/**
 * Rejects invalid requests that Node accepts. Call `takeAbsoluteTarget` before this function.
 * After this check, `req.headers.host` is set, and `new URL(req.url, "http://" + host)` cannot throw.
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
  checkScheme(req);
  checkQuery(req.url ?? "");
  const host = "authority" in req ? req.authority : req.headers.host;
  checkLength("Host", host);
  checkLength("Origin", req.headers.origin);
  if (host === undefined && req.httpVersion === "1.1") {
    throw malformed("The request has no Host header, which HTTP/1.1 requires.");
  }
  if (host && !isHost(host)) {
    throw malformed(`The host ${echo(host, '"')} is not a name or address with a port.`);
  }
  // HTTP/1.0 does not require a Host header, and the health checks of load balancers do not send this header.
  req.headers.host = host || "localhost";
  if (!req.url?.startsWith("/") && req.url !== "*") {
    throw malformed(`The request target ${echo(req.url ?? "", '"')} is not a path.`);
  }
}

/** Rejects other schemes than http and https. A proxy that ends TLS sends https. */
function checkScheme(req: NodeRequest): void {
  const scheme = "scheme" in req ? req.scheme : /^([a-z][a-z\d+.-]*):/i.exec(req.url ?? "")?.[1];
  if (scheme !== undefined && !/^https?$/i.test(scheme)) {
    throw malformed(`The scheme ${echo(scheme, '"')} is not served: send http or https.`);
  }
}

/** The maximum length of the headers Host and Origin. Parsing 15 kB would take 7 ms. */
const hostMaxBytes = 300;

function checkLength(name: "Host" | "Origin", value: string | undefined): void {
  if (value !== undefined && value.length > hostMaxBytes) {
    throw malformed(
      `The ${name} of the request has ${value.length} bytes; at most ${hostMaxBytes} are read.`,
    );
  }
}

/** The maximum number of query parameters. Parsing thousands of parameters would take milliseconds. */
const parametersMax = 64;

function checkQuery(target: string): void {
  const query = target.indexOf("?");
  const count = query === -1 ? 0 : target.slice(query).split("&").length;
  if (count > parametersMax) {
    throw malformed(`The query of the request has ${count} parameters; at most ${parametersMax} are read.`);
  }
}

function isHost(host: string): boolean {
  return !/[\s/?#@\\]/.test(host) && URL.canParse(`http://${host}`);
}

/** A request must not repeat these headers: Node uses only the first value, but a proxy can use the last value. */
const onlyOnce = ["host", "authorization", "content-type"];

/** Rejects repeated headers (RFC 9110 section 5.3) and headers that are too large. Over HTTP/2, Node would accept 64 KiB. */
function checkHeaders({ rawHeaders }: NodeRequest, headersMaxBytes: number): void {
  const names = rawHeaders.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase());
  const twice = onlyOnce.find((name) => names.indexOf(name) !== names.lastIndexOf(name));
  if (twice) {
    throw malformed(`The request has more than one ${twice} header.`);
  }
  if (headerBytes(rawHeaders) > headersMaxBytes) {
    throw new KibitzError("headers_too_large", "The request headers are larger than 16 KiB.");
  }
}

/** Rejects HTTP versions and transfer codings that Node's parser accepts although this service does not support them. */
function checkHttp1({ httpVersion, headers }: NodeRequest): void {
  if (httpVersion !== "1.1" && httpVersion !== "1.0") {
    throw malformed("The request is neither HTTP/1.1 nor HTTP/1.0. HTTP/2 starts with its own preface.");
  }
  const coding = headers["transfer-encoding"];
  if (coding === undefined) {
    return;
  }
  // The end of such a body is uncertain (RFC 9112 section 6.1).
  if (httpVersion === "1.0") {
    throw malformed("HTTP/1.0 has no Transfer-Encoding.");
  }
  // The end of such a body cannot be found (RFC 9112 section 6.3).
  if (!/(?:^|[,\s])chunked$/i.test(coding)) {
    throw malformed(`The Transfer-Encoding ${echo(coding, '"')} does not end with chunked.`);
  }
  // An unsupported coding needs the status 501 (RFC 9112 section 6.1).
  if (coding.toLowerCase() !== "chunked") {
    throw new KibitzError("unimplemented", "The only supported Transfer-Encoding is chunked.");
  }
}

function malformed(detail: string): KibitzError {
  return new KibitzError("malformed_http", detail);
}

/** A header needs this number of bytes of heap more than its text. */
export const headerOverhead = 32;

/** Returns the size of headers in memory. */
export function headerBytes(rawHeaders: readonly string[]): number {
  const text = rawHeaders.reduce((length, part) => length + part.length, 0);
  return text + (rawHeaders.length / 2) * headerOverhead;
}
