import { afterAll, expect } from "vitest";

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

// Test files share a worker. If a file left a fake clock behind, tests of the next file would wait forever. The check runs
// before each file, because vitest restores spies after the last hook.
for (const [name, real] of worker.realClock) {
  if (Reflect.get(globalThis, name) !== real) {
    Reflect.set(globalThis, name, real);
    throw new Error(`${worker.lastFile} left a ${name} of its own behind`);
  }
}

afterAll(() => {
  worker.lastFile = expect.getState().testPath;
});
