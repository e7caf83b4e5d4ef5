import { afterAll, expect } from "vitest";

/** State that one worker keeps between test files. */
interface Worker {
  realClock?: ReadonlyMap<string, unknown>;
  lastFile?: string | undefined;
}

const worker = globalThis as typeof globalThis & Worker;
const names = [
  "setTimeout",
  "clearTimeout",
  "setInterval",
  "clearInterval",
  "setImmediate",
  "Date",
  "performance",
];
worker.realClock ??= new Map(names.map((name) => [name, Reflect.get(globalThis, name)]));

// Files share a worker: a clock that one of them leaves turned would let the tests of the next wait for ever, and which
// file is the next differs from run to run. Looked at before a file, since vitest restores spies after the last hook.
for (const [name, real] of worker.realClock) {
  if (Reflect.get(globalThis, name) !== real) {
    Reflect.set(globalThis, name, real);
    throw new Error(`${worker.lastFile} left a ${name} of its own behind`);
  }
}

afterAll(() => {
  worker.lastFile = expect.getState().testPath;
});
