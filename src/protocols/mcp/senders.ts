import { KibitzError } from "../../errors/errors.ts";
import { echo } from "../../text/plain-text.ts";

export interface SendersOptions {
  /** Origins of web pages that may ask; `*` among them counts for nothing. */
  readonly origins: readonly string[];
  /** Host names that are answered to, in lower case; every one if undefined. */
  readonly hosts: readonly string[] | undefined;
}

/**
 * Refuses web pages that the operator has not let in, by the headers Host and Origin alone. A page that a user of this
 * network visits could else ask what only that network may, also through a name of its own that leads here (DNS
 * rebinding); the specification demands it.
 *
 * The check is told the scheme that the caller used: this server speaks http, and a proxy in front of it maybe https.
 *
 * @throws KibitzError `host_not_allowed`, `origin_not_allowed`
 */
export function createSenderCheck({ origins, hosts }: SendersOptions) {
  return ({ host = "", origin }: Sent, scheme: Scheme): void => {
    const name = URL.parse(`http://${host}`)?.hostname ?? "";
    if (hosts && !hosts.includes(name)) {
      throw new KibitzError(
        "host_not_allowed",
        `This path does not answer to the host "${echo(name)}": the operator can name it in KIBITZ_ALLOWED_HOSTS.`,
      );
    }
    if (origin === undefined || (typeof origin === "string" && origin !== "*" && origins.includes(origin))) {
      return;
    }
    // Where every host is answered to, a page's own name proves nothing.
    const isOwn =
      hosts !== undefined && URL.parse(String(origin))?.origin === URL.parse(`${scheme}://${host}`)?.origin;
    if (!isOwn) {
      throw new KibitzError(
        "origin_not_allowed",
        `Pages of "${echo(String(origin))}" may not ask here: the operator can name that origin in KIBITZ_CORS_ORIGINS.`,
      );
    }
  };
}

interface Sent {
  readonly host?: string | undefined;
  readonly origin?: unknown;
}

/** What pages of this server are read by, which is part of their origin. */
export type Scheme = "http" | "https";

/** The names of a machine for itself. */
export const loopbackNames: readonly string[] = ["localhost", "127.0.0.1", "[::1]"];

/**
 * The hosts that are answered to: on loopback its names, and those that the operator adds; elsewhere those that the
 * operator names, or all.
 *
 * @param address that the server listens on
 */
export function allowedHosts(
  address: string,
  named: readonly string[] | undefined,
): readonly string[] | undefined {
  const isLoopback = address === "localhost" || address === "::1" || address.startsWith("127.");
  return isLoopback ? [...loopbackNames, ...(named ?? [])] : named;
}
