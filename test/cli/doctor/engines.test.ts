import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { checkEngines, checkLatest, checkSandbox } from "../../../src/cli/doctor/engines.ts";
import { createCatalog } from "../../../src/engine/catalog.ts";
import { loadConfig } from "../../../src/wiring/config.ts";
import { buildOf } from "../../engine/build-of.ts";
import { describeFakeLc0 } from "../../support/fake-engine/index.ts";
import { testWith } from "../../support/needs.ts";
import { quickestSettings } from "../../support/quickest-settings.ts";
import { useTemporaryFolder } from "../../support/temporary-folder.ts";

const folder = useTemporaryFolder();

testWith("namespaces", "util-linux")(
  "kibitz doctor reports a complete sandbox without creating the data folder",
  async () => {
    const dataDir = join(folder, "data");
    const findings = await Array.fromAsync(checkSandbox(loadConfig({ KIBITZ_DATA_DIR: dataDir })));
    expect(findings.filter(({ state }) => state !== "good")).toEqual([]);
    expect(findings[0]?.found).toMatch(/ it guards: .*keys/);
    expect(existsSync(dataDir)).toBe(false);
  },
);

test("kibitz doctor names an engine that was left out with its file and reason, and tests the others", async () => {
  const config = loadConfig({ ...quickestSettings, KIBITZ_ENGINES: describeFakeLc0(folder) });
  const findings = await Array.fromAsync(checkEngines(config, new AbortController().signal));
  const missing = join(folder, "missing");
  expect(findings).toContainEqual({
    part: "engines",
    state: "note",
    found: `gone, ${missing}: described engine left out (the command ${missing} does not exist)`,
    advice: "The service starts without it: replace the file, or correct KIBITZ_ENGINES.",
  });
  const leela = findings.filter(({ found }) => found.startsWith("leela (native): "));
  expect(leela).toMatchObject([{ state: "good", found: expect.stringContaining("passes its self-test") }]);
  expect(findings.filter(({ found }) => found.startsWith("gone"))).toHaveLength(1);
  expect(findings.some(({ state }) => state === "bad")).toBe(false);
});

const wasm = buildOf({ id: "stockfish-19", version: "19", path: "wasm" });
const native = buildOf({ id: "stockfish-19", version: "19", path: "native" });
const older = buildOf({ id: "stockfish-17.1", version: "17.1", path: "native" });

/** With this setting, an engine that was installed would not be used. */
const named = { nativeEngines: [] };

test("kibitz doctor names the command that installs a native build if latest is WebAssembly", () => {
  const findings = [
    ...checkLatest(createCatalog([wasm], undefined), { nativeEngines: undefined }, "x64", () => true),
  ];
  expect(findings.map(({ advice }) => advice)).toEqual([
    "Run `kibitz engines install`, and restart the server.",
  ]);
});

test("kibitz doctor says that latest is WebAssembly because the search of the native build differs", () => {
  const modified = buildOf({ id: "stockfish-19", version: "19", path: "native", selfTestNodes: 1 });
  const findings = [...checkLatest(createCatalog([wasm, modified], undefined), named, "x64")];
  expect(findings.map(({ found }) => found)).toEqual([
    expect.stringContaining("because the search of the native stockfish-19 differs"),
  ]);
});

test.each([
  [
    "an official binary or Debian's package",
    [wasm],
    /official Stockfish 19 .+ in KIBITZ_NATIVE_ENGINES; or install Debian's package `stockfish`/,
  ],
  [
    "the older native engine that is there",
    [wasm, older],
    /in KIBITZ_NATIVE_ENGINES; or make stockfish-17\.1, which is native, the default with KIBITZ_DEFAULT_ENGINE/,
  ],
  [
    "no engine of another family, and no engine that was left out",
    [
      wasm,
      buildOf({ id: "maia-1500", family: "lc0", path: "native" }),
      buildOf({ id: "broken", path: "native", unavailableReason: "the command does not exist." }),
    ],
    /or install Debian's package `stockfish`/,
  ],
])("kibitz doctor recommends a native build if latest is WebAssembly: %s", (_, builds, advice) => {
  expect([...checkLatest(createCatalog(builds, undefined), named, "x64")]).toEqual([
    {
      part: "engines",
      state: "note",
      found: expect.stringContaining("latest is stockfish-19 in WebAssembly"),
      advice: expect.stringMatching(advice),
    },
  ]);
});

test("kibitz doctor does not recommend a native build if latest is native, or if no build for the processor exists", () => {
  expect([...checkLatest(createCatalog([wasm, native], undefined), named, "x64")]).toEqual([]);
  expect([...checkLatest(createCatalog([wasm], undefined), named, "riscv64")]).toEqual([]);
});
