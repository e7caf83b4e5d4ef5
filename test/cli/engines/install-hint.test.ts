import { expect, test } from "vitest";
import { wouldInstallHelp } from "../../../src/cli/engines/install-hint.ts";
import { officialRelease } from "../../../src/cli/engines/official-release.ts";
import { wasmBuilds } from "../../../src/engine/backends/wasm/builds.ts";
import { createCatalog } from "../../../src/engine/catalog.ts";
import { buildOf } from "../../engine/build-of.ts";

const { id } = officialRelease;
const wasm = buildOf({ id, version: "19", path: "wasm" });
const native = buildOf({ id, version: "19", path: "native" });
const older = buildOf({ id: "stockfish-17.1", version: "17.1", path: "native" });
const lite = buildOf({ id: "stockfish-19-lite", version: "19", path: "wasm", net: "lite" });
const searched = { nativeEngines: undefined };
const linux = { platform: "linux", arch: "x64", glibc: "2.36" };

test("the official release is the version of the default WebAssembly build", () => {
  expect(wasmBuilds.find(({ net }) => net === "full")?.id).toBe(officialRelease.id);
});

test("every build of the official release has a digest of the right form, except riscv64, whose digest is unknown", () => {
  const unknown = Object.entries(officialRelease.builds).filter(
    ([, { sha256 = "" }]) => !/^[0-9a-f]{64}$/.test(sha256),
  );
  expect(unknown.map(([machine]) => machine)).toEqual(["linux-riscv64"]);
});

test("the official release is loaded over https from hosts in its list", () => {
  const addresses = [officialRelease.files, officialRelease.document].map((address) => new URL(address));
  expect(addresses.map(({ protocol }) => protocol)).toEqual(["https:", "https:"]);
  expect(officialRelease.hosts).toEqual(expect.arrayContaining(addresses.map(({ host }) => host)));
});

test.each([
  ["on Linux with a newer glibc", [wasm], undefined, searched, linux, true],
  ["on macOS", [wasm], undefined, searched, { platform: "darwin", arch: "arm64", glibc: undefined }, true],
  ["beside an older native engine", [wasm, older], undefined, searched, linux, true],
  ["with an older glibc", [wasm], undefined, searched, { ...linux, glibc: "2.31" }, false],
  ["without glibc", [wasm], undefined, searched, { ...linux, glibc: undefined }, false],
  ["on Windows", [wasm], undefined, searched, { ...linux, platform: "win32" }, false],
  ["on another processor", [wasm], undefined, searched, { ...linux, arch: "ppc64" }, false],
  ["if a native build is there", [wasm, native], undefined, searched, linux, false],
  ["if KIBITZ_NATIVE_ENGINES is set", [wasm], undefined, { nativeEngines: [] }, linux, false],
  ["if the default is another engine", [wasm, lite], "stockfish-19-lite", searched, linux, false],
])("an installation is suggested or not: %s", (_, builds, defaultEngine, config, machine, expected) => {
  const catalog = createCatalog(builds, defaultEngine);
  expect(wouldInstallHelp(catalog, config, officialRelease, machine)).toBe(expected);
});
