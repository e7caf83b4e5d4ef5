import { readFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import { nativeEngine } from "../../bench/service/engine.ts";
import { newPositions } from "../../bench/service/questions.ts";
import { testWith } from "../support/needs.ts";
import { quickestSettings } from "../support/quickest-settings.ts";
import { startServer } from "../support/start-server.ts";
import { useTemporaryFolder } from "../support/temporary-folder.ts";

/** Many more searches than the cache can store. */
const requests = 60_000;
const callers = 4;
const promisedBytes = 200e6;
const dataDir = useTemporaryFolder();

testWith("native")(
  "the server with the default cache uses less than 200 MB of memory during 60,000 different searches",
  async () => {
    const engine = await nativeEngine();
    const { url, pid, stop } = await startServer({
      ...quickestSettings,
      KIBITZ_DATA_DIR: dataDir,
      KIBITZ_NATIVE_ENGINES: engine.command.file,
      KIBITZ_DEFAULT_ENGINE: engine.id,
      KIBITZ_QUEUE_MAX_WAIT_MS: "600000",
    });
    const agent = new Agent({ keepAlive: true, maxSockets: callers });
    const positions = newPositions(1);
    let searched = 0;
    let refused = 0;
    const ask = () =>
      new Promise<void>((resolve, reject) => {
        const headers = { "content-type": "application/json" };
        request(`${url}/v1/eval`, { method: "POST", agent, headers }, async (response) => {
          const answer = await text(response);
          if (response.statusCode === 503) {
            // The machine is busy. A refusal does not change the memory of the server, so the request is sent again.
            refused++;
            await sleep(1000);
          } else if (response.statusCode === 200 && answer.includes('"cached":false')) {
            searched++;
          } else {
            reject(new Error(`${response.statusCode} ${answer}`));
          }
          resolve();
        })
          .on("error", reject)
          .end(JSON.stringify({ fen: positions.next().value, depth: 1 }));
      });
    try {
      await Promise.all(
        Array.from({ length: callers }, async () => {
          while (searched < requests) {
            await ask();
          }
        }),
      );
      const peakBytes =
        Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) * 1024;
      expect(refused, "refused").toBeLessThan(searched / 100);
      console.log(`measured: the server took ${(peakBytes / 1e6).toFixed(0)} MB at most; ${refused} refused`);
      expect(peakBytes).toBeLessThan(promisedBytes);
    } finally {
      agent.destroy();
      await stop();
    }
  },
);
