/**
 * Packs Kibitz, installs it into an empty folder from the registry that npm is configured with, starts it with each Node that is
 * named, and asks it: `node tools/measure-package.ts [24 26]`. Prints sizes and how long it takes until the first answer.
 */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { globSync, lstatSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));

export interface Packed {
  /** The tarball. */
  readonly path: string;
  readonly files: readonly string[];
  /** In bytes: of the tarball, and of what is in it. */
  readonly packedBytes: number;
  readonly unpackedBytes: number;
}

export interface Started {
  /** Such as `v24.9.0`. */
  readonly node: string;
  /** Milliseconds from the start of the process until it is ready; and until the first answer of a search of depth 1 was read. */
  readonly readyMs: number;
  readonly answeredMs: number;
  readonly answer: unknown;
  /** What a browser gets. */
  readonly page: string;
}

/** The package, as it would be published; `dist/` of the checkout is made anew. */
export function packInto(folder: string, checkout = root): Packed {
  const printed = execFileSync("npm", ["pack", "--json", "--pack-destination", folder], {
    cwd: checkout,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
  });
  const [{ filename }] = JSON.parse(printed.slice(printed.indexOf("[\n")));
  return readPacked(join(folder, filename));
}

/** What is in a tarball. */
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

/** As `npm install` does it for a user, in a folder that has nothing. */
export function installInto(folder: string, ...packages: readonly string[]): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), "{}");
  // Kibitz needs no script of any package.
  execFileSync("npm", ["install", "--no-audit", "--no-fund", "--ignore-scripts", ...packages], {
    cwd: folder,
    stdio: "pipe",
  });
}

/** Bytes of all files below a folder. */
export function sizeOf(folder: string): number {
  return globSync("**", { cwd: folder })
    .map((path) => lstatSync(join(folder, path)))
    .reduce((sum, stat) => sum + (stat.isFile() ? stat.size : 0), 0);
}

/** The program of a version of Node that npm has, installed below a folder: from what the package `node` would fetch. */
export function installNode(folder: string, version: string): string {
  const name = `node-${process.platform}-${process.arch}`;
  installInto(folder, `${name}@${version}`);
  return join(folder, "node_modules", name, "bin/node");
}

/** Starts what is installed in a folder, asks it once, and stops it. */
export async function startInstalled(folder: string, node: string, dataDir: string): Promise<Started> {
  const begun = performance.now();
  const program = join(folder, "node_modules/kibitz-chess/bin/kibitz.js");
  const child = spawn(node, ["--max-old-space-size=512", "--max-semi-space-size=8", program, "serve"], {
    cwd: folder,
    env: { PATH: process.env.PATH, KIBITZ_PORT: "0", KIBITZ_METRICS_PORT: "0", KIBITZ_DATA_DIR: dataDir },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const complaints = text(child.stderr);
  const ended = once(child, "close");
  try {
    const url = await readyUrl(child.stdout);
    if (url === undefined) {
      throw new Error(`it ended before it was ready: ${await complaints}`);
    }
    const readyMs = performance.now() - begun;
    const response = await fetch(`${url}/v1/bestmove`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ fen: "6k1/5ppp/8/8/8/8/5PPP/4R1K1 w - - 0 1", depth: 1 }),
    });
    const answer = await response.json();
    const answeredMs = performance.now() - begun;
    const page = await (await fetch(url, { headers: { accept: "text/html" } })).text();
    return {
      node: execFileSync(node, ["--version"], { encoding: "utf8" }).trim(),
      readyMs,
      answeredMs,
      answer,
      page,
    };
  } finally {
    child.kill("SIGTERM");
    await ended;
  }
}

async function readyUrl(log: NodeJS.ReadableStream): Promise<string | undefined> {
  const lines = createInterface(log);
  const url = Promise.withResolvers<string | undefined>();
  lines.on("line", (line) => {
    const found = /"url":"(http:[^"]+)".*"msg":"ready/.exec(line)?.[1];
    if (found !== undefined) {
      url.resolve(found);
    }
  });
  lines.on("close", () => url.resolve(undefined));
  return url.promise;
}

if (import.meta.main) {
  const versions = process.argv.length > 2 ? process.argv.slice(2) : ["24", "26"];
  const folder = mkdtempSync(join(tmpdir(), "kibitz-package-"));
  try {
    const { path, files, packedBytes, unpackedBytes } = packInto(folder);
    const installed = join(folder, "installed");
    installInto(installed, path);
    const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;
    console.log(`packed:    ${megabytes(packedBytes)}, ${files.length} files`);
    console.log(`unpacked:  ${megabytes(unpackedBytes)}`);
    console.log(
      `installed: ${megabytes(sizeOf(installed))}, of which the engine is ${megabytes(sizeOf(join(installed, "node_modules/stockfish")))}`,
    );
    for (const version of versions) {
      const node = installNode(join(folder, `node-${version}`), version);
      for (const [at, when] of ["first start", "later"].entries()) {
        const {
          node: is,
          readyMs,
          answeredMs,
        } = await startInstalled(installed, node, join(folder, `data-${at}`));
        console.log(
          `Node ${is}, ${when}: ready after ${readyMs.toFixed(0)} ms, answered after ${answeredMs.toFixed(0)} ms`,
        );
      }
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
