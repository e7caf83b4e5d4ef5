import type { IncomingHttpHeaders } from "node:http";
import { createNetworkTest } from "../../access/client-address.ts";
import { KibitzError } from "../../errors/errors.ts";
import { echo } from "../../text/echo.ts";

export interface SendersOptions {
  /** The origins of web pages that may send requests. The origin `*` has no effect here. */
  readonly origins: readonly string[];
  /** The allowed host names in lower case. Undefined allows all hosts. */
  readonly hosts: readonly string[] | undefined;
  /** The addresses and networks of proxies, which may use HTTPS in front of this server. */
  readonly trustProxy: readonly string[];
}

/**
 * Rejects requests from web pages and to host names that the operator has not allowed. MCP requires this check.
 * `address` is the address of the connection.
 */
export function createSenderCheck({ origins, hosts, trustProxy }: SendersOptions) {
  const isProxy = createNetworkTest(trustProxy);
  return (headers: IncomingHttpHeaders, address: string): void => {
    const { host = "", origin } = headers;
    const name = URL.parse(`http://${host}`)?.hostname ?? "";
    if (hosts && !hosts.includes(name)) {
      throw new KibitzError(
        "host_not_allowed",
        `This path does not answer to the host ${echo(name, '"')}: the operator can name it in KIBITZ_ALLOWED_HOSTS.`,
      );
    }
    if (origin === undefined || (origin !== "*" && origins.includes(origin))) {
      return;
    }
    // Trust this header only if a trusted proxy has sent the request, because clients can forge it.
    const scheme = headers["x-forwarded-proto"] === "https" && isProxy(address) ? "https" : "http";
    // If every host is allowed, a page with the same host name as this server may still be from somebody else.
    const isOwn =
      hosts !== undefined && URL.parse(origin)?.origin === URL.parse(`${scheme}://${host}`)?.origin;
    if (!isOwn) {
      throw new KibitzError(
        "origin_not_allowed",
        `Pages of ${echo(origin, '"')} may not ask here: the operator can name that origin in KIBITZ_CORS_ORIGINS.`,
      );
    }
  };
}

const loopbackNames: readonly string[] = ["localhost", "127.0.0.1", "[::1]"];

/** If the server listens on a loopback address, also allows the loopback names. Undefined allows all hosts. */
export function allowedHosts(
  address: string,
  named: readonly string[] | undefined,
): readonly string[] | undefined {
  const isLoopback = address === "localhost" || address === "::1" || address.startsWith("127.");
  return isLoopback ? [...loopbackNames, ...(named ?? [])] : named;
}
