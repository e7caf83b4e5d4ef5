import { echo, KibitzError } from "../errors.ts";
import type { NodeRequest } from "./node-message.ts";

/**
 * Refuses what Node lets pass, and makes sure that `new URL(req.url, "http://" + host)` cannot throw: Connect
 * calls it outside of any try, and one request with `Host: [` ended the process (connect-node 2.1.2, 2.2.0).
 *
 * Afterwards `req.headers.host` is there for every version, and the target is a path with its query, or `*`.
 */
export function checkRequest(req: NodeRequest, headersMaxBytes: number): void {
  if (req.method === "CONNECT") {
    throw malformed("CONNECT is for proxies, and this is none.");
  }
  if (req.headers.expect !== undefined && req.headers.expect.toLowerCase() !== "100-continue") {
    throw malformed("The Expect header can only ask for 100-continue.");
  }
  checkHeaders(req, headersMaxBytes);
  takeAbsoluteTarget(req);
  const host = "authority" in req ? req.authority : req.headers.host;
  if (host === undefined && req.httpVersion === "1.1") {
    throw malformed("The request has no Host header, which HTTP/1.1 demands.");
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

/** Node keeps the first of two hosts, and lets HTTP/2 clients send 64 KiB whatever `maxHeaderListSize` says. */
function checkHeaders({ rawHeaders }: NodeRequest, headersMaxBytes: number): void {
  let hosts = 0;
  let bytes = 0;
  for (const [index, text] of rawHeaders.entries()) {
    bytes += text.length;
    if (index % 2 === 0 && text.length === 4 && text.toLowerCase() === "host") {
      hosts += 1;
    }
  }
  if (hosts > 1) {
    throw malformed("The request has more than one Host header.");
  }
  if (bytes > headersMaxBytes) {
    throw new KibitzError("headers_too_large", "The request headers are larger than 16 KiB.");
  }
}

/** RFC 9112 section 3.2.2: servers accept the target that is meant for proxies, and its host counts. */
function takeAbsoluteTarget(req: NodeRequest): void {
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
