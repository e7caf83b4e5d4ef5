import { stripTypeScriptTypes } from "node:module";
import { runInThisContext } from "node:vm";
import { expect, test } from "vitest";
import { readSources } from "../support/imports.ts";
import { failableSource, type Steps } from "./steps/failable-source.ts";

const source = `
async function run(log) {
  await using held = (open(log) as AsyncDisposable);
  for await (const value of [await Promise.resolve(1), 2] as const) {
    log.push(await (await nested(value)) as number);
  }
  return log;
}
const nested = async (value: number): Promise<Promise<number>> => value * 10;
const open = (log) => ({ async [Symbol.asyncDispose]() { log.push("disposed"); } });
run`;

test("each await, for await and await using calls the inserted functions with its file and line", async () => {
  const places: string[] = [];
  const steps: Steps = {
    async failableStep(place, waited) {
      places.push(place);
      return waited;
    },
    async *failableSteps(place, iterated) {
      places.push(`for ${place}`);
      yield* iterated;
    },
    failableDisposal(place, disposed) {
      places.push(`using ${place}`);
      return disposed;
    },
  };
  Object.assign(globalThis, steps);
  const written = stripTypeScriptTypes(failableSource("a.ts", source));
  const run = runInThisContext(written);
  expect(await run([])).toEqual([10, 20, "disposed"]);
  expect(places).toEqual(["using a.ts:3", "a.ts:4", "for a.ts:4", "a.ts:5", "a.ts:5", "a.ts:5", "a.ts:5"]);
});

test("each await of the folders of a request can fail", () => {
  const folders = ["http", "protocols", "calls", "services", "access"].map((folder) => `src/${folder}`);
  let steps = 0;
  for (const { path, text } of readSources(folders)) {
    const awaits = text.replace(/\/\/[^\n]*|\/\*.*?\*\//gs, "").match(/\bawait\b(?!`)/g)?.length ?? 0;
    const inserted = failableSource(path, text).match(/globalThis\.failable/g)?.length ?? 0;
    expect(inserted, path).toBe(awaits);
    steps += inserted;
  }
  expect(steps).toBeGreaterThan(200);
});
