import { execFileSync } from "node:child_process";
import { globSync, lstatSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startServer } from "./start-server.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

export interface Packed {
  readonly path: string;
  readonly files: readonly string[];
  readonly packedBytes: number;
  readonly unpackedBytes: number;
}

interface Started {
  readonly answer: unknown;
  readonly page: string;
}

/** Builds the checkout again, and creates the tarball that `npm publish` would upload. */
export function packInto(folder: string, checkout = root): Packed {
  const printed = execFileSync("npm", ["pack", "--json", "--pack-destination", folder], {
    cwd: checkout,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [{ filename }] = JSON.parse(printed.slice(printed.indexOf("[\n")));
  return readPacked(join(folder, filename));
}

export function readPacked(path: string): Packed {
  const lines = execFileSync("tar", ["--list", "--verbose", "--gzip", "--file", path], { encoding: "utf8" });
  // -rw-r--r-- 0/0  123 1985-10-26 08:15 package/LICENSE
  const entries = lines
    .trim()
    .split("\n")
    .map((line) => /^\S+ +\S+ +(\d+) \S+ \S+ package\/(.+)$/.exec(line) ?? []);
  return {
    path,
    files: entries.map(([, , file = ""]) => file),
    packedBytes: statSync(path).size,
    unpackedBytes: entries.reduce((sum, [, bytes = "0"]) => sum + Number(bytes), 0),
  };
}

export function installInto(folder: string, ...packages: readonly string[]): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), "{}");
  execFileSync("npm", ["install", "--no-audit", "--no-fund", "--ignore-scripts", ...packages], {
    cwd: folder,
    stdio: "pipe",
  });
}

export function sizeOf(folder: string): number {
  return globSync("**", { cwd: folder })
    .map((path) => lstatSync(join(folder, path)))
    .reduce((sum, stat) => sum + (stat.isFile() ? stat.size : 0), 0);
}

/**
 * Installs a version of Node from npm below a folder.
 * @returns the path of the `node` program
 */
export function installNode(folder: string, version: string): string {
  const name = `node-${process.platform}-${process.arch}`;
  installInto(folder, `${name}@${version}`);
  return join(folder, "node_modules", name, "bin/node");
}

/** Starts the package that is installed in a folder, sends one request, and stops the server. */
export async function startInstalled(folder: string, node: string, dataDir: string): Promise<Started> {
  const checkout = join(folder, "node_modules/kibitz-chess");
  const env = { PATH: process.env.PATH, KIBITZ_DATA_DIR: dataDir };
  const { url, stop } = await startServer(env, { checkout, node });
  try {
    const response = await fetch(`${url}/v1/bestmove`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ fen: "6k1/5ppp/8/8/8/8/5PPP/4R1K1 w - - 0 1", depth: 1 }),
    });
    const answer = await response.json();
    const page = await (await fetch(url, { headers: { accept: "text/html" } })).text();
    return { answer, page };
  } finally {
    await stop();
  }
}
