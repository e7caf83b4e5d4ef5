import { once } from "node:events";
import { createServer as createPlainServer, type ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { afterAll, beforeAll } from "vitest";
import type { OfficialBuild, Release } from "../../../../src/cli/engines/official-release.ts";
import { selfSigned } from "../../../support/self-signed.ts";

export type Respond = (response: ServerResponse) => void;

/** Behaves like the releases: the page redirects to another host, which sends the archive. */
interface ReleaseServer {
  /** How the servers answer, by the path. A path that is missing gets 404. */
  readonly pages: Record<string, Respond>;
  readonly requested: string[];
  /** The address of the second host, which the release allows too. */
  readonly assets: () => string;
  /** The address of a server without TLS, which the release does not allow. */
  readonly plain: () => string;
  release(engine: { readonly id: string; readonly name: string }, build: OfficialBuild): Release;
}

export function useReleaseServer(): ReleaseServer {
  const pages: Record<string, Respond> = {};
  const requested: string[] = [];
  const answer = (request: { url?: string | undefined }, response: ServerResponse) => {
    const path = request.url?.split("?")[0] ?? "";
    requested.push(path);
    const respond = pages[path] ?? ((missing: ServerResponse) => missing.writeHead(404).end());
    respond(response);
  };
  const servers = [
    createServer(selfSigned, answer),
    createServer(selfSigned, answer),
    createPlainServer(answer),
  ];
  const hosts = ["localhost", "127.0.0.1", "127.0.0.1"];
  const hostOf = (index: number) =>
    `${hosts[index]}:${(servers[index]?.address() as AddressInfo | undefined)?.port}`;
  const trusted = getCACertificates("default");

  beforeAll(async () => {
    setDefaultCACertificates([...trusted, selfSigned.cert]);
    await Promise.all(servers.map((server) => once(server.listen(0, "127.0.0.1"), "listening")));
  });
  afterAll(() => {
    setDefaultCACertificates(trusted);
    for (const server of servers) {
      server.close();
      server.closeAllConnections();
    }
  });
  return {
    pages,
    requested,
    assets: () => `https://${hostOf(1)}`,
    plain: () => `http://${hostOf(2)}`,
    release: (engine, build) => ({
      ...engine,
      files: `https://${hostOf(0)}/download/`,
      document: `https://${hostOf(0)}/document`,
      hosts: [hostOf(0), hostOf(1)],
      glibc: "2.35",
      builds: { [`${process.platform}-${process.arch}`]: build },
    }),
  };
}

export const redirectTo =
  (location: string): Respond =>
  (response) =>
    response.writeHead(302, { location }).end();

export const send =
  (body: Buffer | string, status = 200, headers: Readonly<Record<string, string>> = {}): Respond =>
  (response) =>
    response.writeHead(status, { "content-length": Buffer.byteLength(body), ...headers }).end(body);
