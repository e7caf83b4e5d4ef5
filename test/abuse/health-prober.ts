/** The process of `watchHealth`: probes until it is told to stop, and then reports how long each probe took. */
import { Agent, get } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { aheadOfOthers } from "./ahead-of-others.ts";
import { ranMs } from "./processes-of.ts";

const everyMs = 10;
/** As load balancers do: most probes on a connection that is there, some on a new one. */
const newConnectionEvery = 10;

const [, , origin = "", pid = ""] = process.argv;
const url = `${origin}/healthz`;
const kept = new Agent({ keepAlive: true });
const times: number[] = [];
const ownTimes: number[] = [];
let failed = 0;
let stopped = false;
process.once("message", () => {
  stopped = true;
});

function probe(agent: Agent | false): Promise<boolean> {
  return new Promise((resolve) => {
    get(url, { agent }, (res) => res.resume().on("end", () => resolve(res.statusCode === 200))).on(
      "error",
      () => resolve(false),
    );
  });
}

using _ahead = aheadOfOthers();
await probe(kept);
process.send?.("ready");
for (let count = 0; count === 0 || !stopped; count++) {
  const startedAt = performance.now();
  const ranBefore = ranMs(Number(pid));
  if (await probe(count % newConnectionEvery === 0 ? false : kept)) {
    times.push(performance.now() - startedAt);
    ownTimes.push(ranMs(Number(pid)) - ranBefore);
  } else {
    failed++;
  }
  await sleep(everyMs);
}
kept.destroy();
process.send?.({ times, ownTimes, failed });
