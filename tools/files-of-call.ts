import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "../test/support/free-port.ts";
import { quickestSettings } from "../test/support/quickest-settings.ts";
import { startServer } from "../test/support/start-server.ts";

// Prints the files of `src/` that the first `POST /v1/eval` of a running service runs through.

const sourceUrl = new URL("../src/", import.meta.url).href;

interface Coverage {
  readonly url: string;
  readonly functions: readonly { readonly ranges: readonly { startOffset: number; count: number }[] }[];
}

/** Counts calls of functions in a process, which must have been started with `--inspect`. */
async function connectInspector(url: string) {
  const socket = new WebSocket(url);
  await new Promise((resolve, reject) => {
    socket.addEventListener("open", resolve);
    socket.addEventListener("error", reject);
  });
  const answers = new Map<number, (result: { readonly result: readonly Coverage[] }) => void>();
  socket.addEventListener("message", ({ data }) => {
    const { id, result } = JSON.parse(String(data));
    answers.get(id)?.(result);
  });
  let last = 0;
  const ask = (method: string, params = {}) =>
    new Promise<{ readonly result: readonly Coverage[] }>((resolve) => {
      answers.set(++last, resolve);
      socket.send(JSON.stringify({ id: last, method, params }));
    });
  await ask("Profiler.enable");
  await ask("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  return {
    /** Returns the functions that have run since the last call, as `<file>:<offset>`. */
    async functionsRun(): Promise<ReadonlySet<string>> {
      const { result } = await ask("Profiler.takePreciseCoverage");
      return new Set(
        result
          .filter(({ url }) => url.startsWith(sourceUrl))
          .flatMap(({ url, functions }) =>
            functions
              .flatMap(({ ranges }) => ranges.slice(0, 1))
              .filter(({ count }) => count > 0)
              .map(({ startOffset }) => `${url.slice(sourceUrl.length)}:${startOffset}`),
          ),
      );
    },
    close: () => socket.close(),
  };
}

/** Functions that also run in this time without a call are left out. The longest regular interval is 1 s. */
const idleMs = 3000;

const dataDir = mkdtempSync(join(tmpdir(), "kibitz-files-of-call-"));
const server = await startServer({
  ...quickestSettings,
  // As a service is started for the public: with the default build, limits, stored answers, and metrics.
  KIBITZ_WASM_BUILD: "fast",
  KIBITZ_ACCESS: "public",
  KIBITZ_STORE_MB: "16",
  KIBITZ_METRICS_PORT: String(await freePort()),
  KIBITZ_DATA_DIR: dataDir,
  HOME: dataDir,
  NODE_OPTIONS: "--inspect=127.0.0.1:0",
});
try {
  const inspectorUrl = server.complaints.join("\n").match(/ws:\S+/)?.[0] ?? "";
  const inspector = await connectInspector(inspectorUrl);
  await inspector.functionsRun();
  await sleep(idleMs);
  const whileIdle = await inspector.functionsRun();
  const response = await fetch(`${server.url}/v1/eval`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ fen: "startpos", moves: ["e2e4"], depth: 10 }),
  });
  if (!response.ok) {
    throw new Error(await response.text());
  }
  await response.text();
  // The cleaning of the engine and the log line follow the answer.
  await sleep(500);
  const functions = (await inspector.functionsRun()).difference(whileIdle);
  inspector.close();
  const files = [...new Set([...functions].map((name) => name.slice(0, name.lastIndexOf(":"))))].toSorted();
  console.log(files.join("\n"));
  console.log(`${files.length} files, ${functions.size} functions`);
} finally {
  await server.stop();
  rmSync(dataDir, { recursive: true });
}
