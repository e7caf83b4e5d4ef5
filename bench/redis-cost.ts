/** Compares response times with and without Redis. Usage: `node bench/redis-cost.ts [requests, default 1000]`. */
import { Agent, request } from "node:http";
import { startRedis } from "../test/support/start-redis.ts";
import { makeDataFolder } from "./data-folder.ts";
import { benchPositions } from "./positions.ts";
import { atOnceEngine } from "./service/engine.ts";
import { type StartedKibitz, startKibitz } from "./service/peers/kibitz.ts";
import { quantile } from "./service/statistics.ts";

const questions = Number(process.argv[2] ?? 1000);
const warmUp = 200;

const engine = await atOnceEngine();
await using started = new AsyncDisposableStack();
const redis = await startRedis(makeDataFolder());
started.defer(() => redis.stop());

async function startNode(env: Readonly<Record<string, string>>): Promise<StartedKibitz> {
  const node = await startKibitz({ engine, slots: 1 }, { settings: { KIBITZ_STORE_MB: "0", ...env } });
  started.defer(async () => void (await node.stop()));
  return node;
}

const shared = { KIBITZ_REDIS_URL: redis.url };
const alone = await startNode({});
const one = await startNode(shared);
const other = await startNode(shared);
const agent = new Agent({ keepAlive: true });
started.defer(() => agent.destroy());

/** Returns the response time in milliseconds. */
function ask({ server: { url }, headers }: StartedKibitz, number: number): Promise<number> {
  const positions = benchPositions();
  const { fen = "" } = positions[number % positions.length] ?? {};
  // Change the move number, so that the position is not cached.
  const anew = fen.replace(/\d+$/, String(1 + Math.floor(number / positions.length)));
  const body = JSON.stringify({ fen: anew, depth: 12, engine: engine.id, path: engine.path });
  const askedAt = performance.now();
  return new Promise((resolve, reject) => {
    const sent = { "content-type": "application/json", ...headers };
    const call = request(`${url}/v1/eval`, { method: "POST", headers: sent, agent }, (response) => {
      response.resume();
      response.on("end", () =>
        response.statusCode === 200
          ? resolve(performance.now() - askedAt)
          : reject(new Error(`status ${response.statusCode}`)),
      );
    });
    call.on("error", reject);
    call.end(body);
  });
}

const takes = {
  searched: [] as number[],
  "searched, with Redis": [] as number[],
  "known here": [] as number[],
  "known here, with Redis": [] as number[],
  "known to another node": [] as number[],
};
const rows = Object.keys(takes) as (keyof typeof takes)[];
for (let number = 0; number < warmUp + questions; number++) {
  const turn = {
    searched: await ask(alone, number),
    "searched, with Redis": await ask(one, number),
    "known here": await ask(alone, number),
    "known here, with Redis": await ask(one, number),
    "known to another node": await ask(other, number),
  };
  if (number >= warmUp) {
    for (const row of rows) {
      takes[row].push(turn[row]);
    }
  }
}

const quantileOf = (row: keyof typeof takes, share: number) =>
  quantile(
    takes[row].toSorted((a, b) => a - b),
    share,
  );
for (const row of rows) {
  const [median, p95] = [0.5, 0.95].map((share) => quantileOf(row, share).toFixed(2));
  console.log(`${row.padEnd(24)} median ${median} ms, p95 ${p95} ms of ${takes[row].length}`);
}
const ratio = (row: keyof typeof takes) => (quantileOf(row, 0.5) / quantileOf("known here", 0.5)).toFixed(2);
console.log(
  `an answer that this node knows takes ${ratio("known here, with Redis")} × as long with Redis (at most 1.5)`,
);
console.log(`one that another node knows takes ${ratio("known to another node")} × as long (at most 3)`);
