import { expect, test } from "vitest";
import { wasmBuilds } from "../../src/engine/backends/wasm/builds.ts";
import { discoverWasm } from "../../src/engine/backends/wasm/discover.ts";
import { noSandbox } from "../../src/engine/sandbox/sandbox.ts";

test("WebAssembly engines use the operator's hash size, up to the maximum that they support", async () => {
  const hashOf = async (hashMb: number) =>
    (await discoverWasm({ hashMb, threads: 1 }, noSandbox)).map(({ settings }) => settings.hashMb);
  const each = <T>(value: T, { length }: { readonly length: number }) => Array.from({ length }, () => value);
  const some = await hashOf(64);
  expect(some.length).toBeGreaterThan(0);
  expect(some).toEqual(each(64, some));
  expect(await hashOf(4096)).toEqual(each(1024, some));
});

test("a build is deprecated only if the table of builds marks the build as deprecated", async () => {
  const rows = wasmBuilds.map((row) =>
    row.net === "lite" ? { ...row, deprecatedSince: "2026-11-22" as const } : row,
  );
  const found = await discoverWasm({ hashMb: 16, threads: 1 }, noSandbox, { rows });
  expect(found.map(({ net }) => net)).toContain("lite");
  for (const { net, deprecatedSince } of found) {
    expect(deprecatedSince).toBe(net === "lite" ? "2026-11-22" : undefined);
  }
});
