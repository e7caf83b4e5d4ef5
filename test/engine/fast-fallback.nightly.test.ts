import { expect, onTestFinished, test } from "vitest";
import { type WasmBuild, wasmBuilds } from "../../src/engine/backends/wasm/builds.ts";
import { createWasmBackend } from "../../src/engine/backends/wasm/index.ts";
import { profileOf } from "../../src/engine/profiles.ts";
import { noSandbox, type Sandbox } from "../../src/engine/sandbox/sandbox.ts";
import { selfTest } from "../../src/engine/self-test.ts";
import { silentLog } from "../../src/log/log.ts";

const forever = new AbortController().signal;
const lite = wasmBuilds.find(({ id }) => id === "stockfish-19-lite") as WasmBuild;
const fast = lite.fast ?? expect.fail("no fast build");

/** Finds the build of a row. Also returns the backend, and the warnings of the log. */
async function discover(row: WasmBuild, options: { readonly fast?: boolean } = {}, sandbox = noSandbox) {
  const warnings: unknown[] = [];
  const log = { ...silentLog, warn: (...line: readonly unknown[]) => void warnings.push(line) };
  const backend = createWasmBackend({ hashMb: 4, threads: 1 }, sandbox, undefined, {
    ...options,
    rows: [row],
    log,
  });
  const [build = expect.fail("no build")] = await backend.discover(forever);
  return { backend, build, warnings };
}

/** Starts the engine of a row. Returns the build, and the warnings of the log. */
async function start(row: WasmBuild, options: { readonly fast?: boolean } = {}, sandbox = noSandbox) {
  const { backend, build, warnings } = await discover(row, options, sandbox);
  await using session = await backend.start(build, forever);
  expect(await selfTest(session, profileOf("stockfish"), 1, forever)).toBe(lite.selfTestNodes);
  return { build, warnings };
}

test("the fast build runs by default, and its digest covers the host, the module and the network", async () => {
  const { build, warnings } = await start(lite);
  expect(build.slowerBecause).toBeUndefined();
  expect(build.sha256).toMatch(/^[0-9a-f]{64}$/);
  expect(build.sha256).not.toBe(lite.pin.digested);
  expect(warnings).toEqual([]);
});

const wrong = "0".repeat(64);

/** Changes the arguments of Node in the process of the fast build. */
function sandboxWith(change: (args: readonly string[]) => readonly string[]): Sandbox {
  return {
    ...noSandbox,
    wrap: (command) =>
      command.args.includes("--allow-worker") ? { ...command, args: change(command.args) } : command,
  };
}

test.each<[string, WasmBuild, string, Sandbox?]>([
  [
    "its network has another digest",
    { ...lite, fast: { ...fast, network: { ...fast.network, sha256: wrong } } },
    "the network has the SHA-256",
  ],
  [
    "its module has another digest",
    { ...lite, fast: { ...fast, pin: { ...fast.pin, digested: wrong } } },
    "not the file that this version of Kibitz knows",
  ],
  [
    "its self-test visits another number of nodes",
    { ...lite, selfTestNodes: 1 },
    `the self-test visited ${lite.selfTestNodes} nodes instead of 1`,
  ],
  [
    "Node has no process.permission.drop",
    lite,
    "has no process.permission.drop",
    sandboxWith((args) => args.filter((arg) => !/^--(permission|allow)/.test(arg))),
  ],
  [
    "the processor has no SIMD",
    lite,
    "Wasm SIMD unsupported",
    sandboxWith((args) => ["--no-enable-sse4-1", ...args]),
  ],
])(
  "the build of the npm package runs under the same id, with its own digest, if the fast build does not run because %s",
  async (_, row, reason, sandbox) => {
    const { build, warnings } = await start(row, {}, sandbox);
    expect(build).toMatchObject({
      id: "stockfish-19-lite",
      sha256: lite.pin.digested,
      slowerBecause: expect.stringContaining(reason),
    });
    expect(warnings).toEqual([
      [expect.objectContaining({ error: build.slowerBecause }), "a slower build runs instead"],
    ]);
  },
);

test("two engines that start at the same time both become engines of the npm package if the fast build does not run", async () => {
  const row = { ...lite, fast: { ...fast, network: { ...fast.network, sha256: wrong } } };
  const { backend, build, warnings } = await discover(row);
  const [one, other] = await Promise.allSettled([
    backend.start(build, forever),
    backend.start(build, forever),
  ]);
  onTestFinished(async () => {
    for (const started of [one, other]) {
      if (started.status === "fulfilled") {
        await started.value[Symbol.asyncDispose]();
      }
    }
  });
  expect([one.status, other.status]).toEqual(["fulfilled", "fulfilled"]);
  expect(build.sha256).toBe(lite.pin.digested);
  expect(warnings.length).toBe(1);
});

test("the build of the npm package runs if the package of the fast build is not installed", async () => {
  const { build } = await start({ ...lite, fast: { ...fast, package: "kibitz-no-such-package" } });
  expect(build).toMatchObject({
    sha256: lite.pin.digested,
    slowerBecause: "kibitz-no-such-package is not installed",
  });
});

test("the build of the npm package runs if the operator chooses it", async () => {
  const { build } = await start(lite, { fast: false });
  expect(build).toMatchObject({ sha256: lite.pin.digested, slowerBecause: "KIBITZ_WASM_BUILD is npm" });
});
