import type { IncomingHttpHeaders } from "node:http";
import { KibitzError } from "../../errors/errors.ts";
import { echo } from "../../text/plain-text.ts";

export interface SendersOptions {
  /** Origins of web pages that may send requests. `*` allows none. */
  readonly origins: readonly string[];
  /** Allowed host names, in lower case. If undefined, all hosts are allowed. */
  readonly hosts: readonly string[] | undefined;
}

/**
 * Rejects requests of web pages that the operator has not allowed, as the MCP specification requires: a page could otherwise
 * reach a server of its visitor's network, even through a host name that resolves to it (DNS rebinding). `scheme` is an argument
 * because a proxy before this server may speak HTTPS.
 * @throws KibitzError `host_not_allowed`, `origin_not_allowed`
 */
export function createSenderCheck({ origins, hosts }: SendersOptions) {
  return ({ host = "", origin }: Pick<IncomingHttpHeaders, "host" | "origin">, scheme: Scheme): void => {
    const name = URL.parse(`http://${host}`)?.hostname ?? "";
    if (hosts && !hosts.includes(name)) {
      throw new KibitzError(
        "host_not_allowed",
        `This path does not answer to the host "${echo(name)}": the operator can name it in KIBITZ_ALLOWED_HOSTS.`,
      );
    }
    if (origin === undefined || (origin !== "*" && origins.includes(origin))) {
      return;
    }
    // If every host is allowed, the host name of a page proves nothing.
    const isOwn =
      hosts !== undefined && URL.parse(origin)?.origin === URL.parse(`${scheme}://${host}`)?.origin;
    if (!isOwn) {
      throw new KibitzError(
        "origin_not_allowed",
        `Pages of "${echo(origin)}" may not ask here: the operator can name that origin in KIBITZ_CORS_ORIGINS.`,
      );
    }
  };
}

/** The scheme with which clients read pages of this server. It is part of the origin of these pages. */
export type Scheme = "http" | "https";

const loopbackNames: readonly string[] = ["localhost", "127.0.0.1", "[::1]"];

/** Returns the allowed hosts: on loopback, its names and the operator's; otherwise the operator's, or all if there are none. */
export function allowedHosts(
  address: string,
  named: readonly string[] | undefined,
): readonly string[] | undefined {
  const isLoopback = address === "localhost" || address === "::1" || address.startsWith("127.");
  return isLoopback ? [...loopbackNames, ...(named ?? [])] : named;
}
