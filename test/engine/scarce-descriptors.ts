/**
 * Starts an engine twice: first while all file descriptors are used, and then after some descriptors were closed. Run this
 * program with a low `ulimit -n`.
 */
import { closeSync, openSync } from "node:fs";
import { createFakeBackend } from "../support/fake-engine/index.ts";
import { buildOf } from "./build-of.ts";

async function start(): Promise<string> {
  try {
    await using _session = await createFakeBackend().start(buildOf(), new AbortController().signal);
    return "started again";
  } catch (error) {
    return error instanceof Error && "kind" in error ? `${error.name} ${error.kind}` : String(error);
  }
}

const taken: number[] = [];
try {
  for (;;) {
    taken.push(openSync("/dev/null", "r"));
  }
} catch {
  // All file descriptors are in use.
}
const without = await start();
for (const descriptor of taken) {
  closeSync(descriptor);
}
console.log(without);
console.log(await start());
