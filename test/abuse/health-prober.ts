/** The process of `watchHealth`: probes until it is told to stop, and then reports how long each probe took. */
import { Agent, get } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { startStopwatch } from "../support/stopwatch.ts";

const everyMs = 10;
/** As load balancers do: most probes on a connection that is there, some on a new one. */
const newConnectionEvery = 10;

const [, , origin = "", pid = "", probesMin = ""] = process.argv;
const url = `${origin}/healthz`;
const kept = new Agent({ keepAlive: true });
const times: number[] = [];
let failed = 0;
// A test that fails leaves nothing behind.
process.once("disconnect", () => process.exit());
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

await probe(kept);
process.send?.("ready");
for (let count = 0; count < Number(probesMin) || !stopped; count++) {
  const stopwatch = startStopwatch(process.pid, Number(pid));
  if (await probe(count % newConnectionEvery === 0 ? false : kept)) {
    times.push(stopwatch());
  } else {
    failed++;
  }
  await sleep(everyMs);
}
kept.destroy();
process.send?.({ times, failed });
