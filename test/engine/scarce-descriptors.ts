/** Starts an engine when no file descriptor is left, and again when there are enough. Run under a low `ulimit -n`. */
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
  // No file descriptor is left.
}
const without = await start();
for (const descriptor of taken) {
  closeSync(descriptor);
}
console.log(without);
console.log(await start());
