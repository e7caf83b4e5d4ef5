import { expect, test } from "vitest";
import { discoverWasm } from "../../src/engine/backends/wasm/discover.ts";

test("WebAssembly engines take as much hash as the operator gives all engines, and never more than they can", async () => {
  const hashOf = async (hashMb: number) =>
    (await discoverWasm({ hashMb, threads: 1 })).map(({ settings }) => settings.hashMb);
  const each = <T>(value: T, { length }: { readonly length: number }) => Array.from({ length }, () => value);
  const some = await hashOf(64);
  expect(some.length).toBeGreaterThan(0);
  expect(some).toEqual(each(64, some));
  expect(await hashOf(4096)).toEqual(each(1024, some));
});
