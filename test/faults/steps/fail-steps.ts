/**
 * Preloaded into a server. A step is an `await` of the five folders below, in the context of a request. A command on the socket
 * `FAILING_STEPS` arms a failure: the n-th step from then on throws, after what it waits for has settled.
 */
import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { createServer } from "node:net";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { ownerNow } from "../../../src/request/owner.ts";
import { failableSource, type Steps } from "./failable-source.ts";

interface Armed {
  /** The number of the step that fails. 0: none. */
  readonly armed: number;
}

export interface Progress {
  /** The number of steps since the last command {@link Armed}. */
  readonly reached: number;
  /** The file and line of the step that has failed. */
  readonly failed: string | undefined;
}

const root = new URL("../../../", import.meta.url).href;
const failable = /^src\/(http|protocols|calls|services|access)\/.*\.ts$/;

let armed = 0;
let progress: Progress = { reached: 0, failed: undefined };

function reach(place: string): void {
  if (ownerNow() === undefined) {
    return;
  }
  const reached = progress.reached + 1;
  const isFailing = reached === armed;
  progress = { reached, failed: isFailing ? place : progress.failed };
  if (isFailing) {
    throw new Error(`injected failure at ${place}`);
  }
}

const steps: Steps = {
  async failableStep(place, waited) {
    try {
      return await waited;
    } finally {
      reach(place);
    }
  },
  // A loop that fails inside its body returns its iterator too. An iterator that rejects would count as ended.
  async *failableSteps(place, iterated) {
    try {
      for await (const value of iterated) {
        reach(place);
        yield value;
      }
    } finally {
      reach(place);
    }
  },
  failableDisposal(place, disposed) {
    const dispose = Object(disposed)[Symbol.asyncDispose] ?? Object(disposed)[Symbol.dispose];
    if (dispose) {
      Object.defineProperty(disposed, Symbol.asyncDispose, {
        async value() {
          try {
            await dispose.call(disposed);
          } finally {
            reach(place);
          }
        },
      });
    }
    return disposed;
  },
};
Object.assign(globalThis, steps);

registerHooks({
  load(url, context, nextLoad) {
    const path = url.startsWith(root) ? url.slice(root.length) : "";
    if (!failable.test(path)) {
      return nextLoad(url, context);
    }
    const source = failableSource(path, readFileSync(fileURLToPath(url), "utf8"));
    return { format: "module-typescript", source, shortCircuit: true };
  },
});

const server = createServer((socket) => {
  createInterface(socket.unref()).on("line", (line) => {
    const command = JSON.parse(line) as Partial<Armed>;
    const before = progress;
    if (command.armed !== undefined) {
      armed = command.armed;
      progress = { reached: 0, failed: undefined };
    }
    socket.write(`${JSON.stringify(before)}\n`);
  });
});
server.listen(process.env.FAILING_STEPS).unref();
