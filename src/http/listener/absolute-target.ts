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
