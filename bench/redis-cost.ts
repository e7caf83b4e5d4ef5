/**
 * The cost of a shared Redis for an answer, through the port: a node without Redis beside one with it, question by question, so that
 * other work of the machine slows both. Their engine answers at once, so that nothing else is measured.
 *
 *     node bench/redis-cost.ts [questions, default 1000]
 */
import { Agent, request } from "node:http";
import { startRedis } from "../test/support/start-redis.ts";
import { type Server, startServer } from "../test/support/start-server.ts";
import { makeDataFolder } from "./data-folder.ts";
import { benchPositions } from "./positions.ts";
import { atOnceEngine } from "./service/engine.ts";
import { quantile } from "./service/statistics.ts";

const questions = Number(process.argv[2] ?? 1000);
const warmUp = 200;
const searchedGoalMs = 1.5;
const knownGoalMs = 1;

const engine = await atOnceEngine();
await using started = new AsyncDisposableStack();
const redis = await startRedis(makeDataFolder());
started.defer(() => redis.stop());

async function startNode(env: Readonly<Record<string, string>>): Promise<Server> {
  const server = await startServer({
    KIBITZ_NATIVE_ENGINES: engine.command.file,
    KIBITZ_ACCESS: "open",
    KIBITZ_STORE_MB: "0",
    KIBITZ_SLOTS: "1",
    KIBITZ_DATA_DIR: makeDataFolder(),
    ...env,
  });
  started.defer(async () => void (await server.stop()));
  return server;
}

const shared = { KIBITZ_REDIS_URL: redis.url };
const alone = await startNode({});
const one = await startNode(shared);
const other = await startNode(shared);
const agent = new Agent({ keepAlive: true });
started.defer(() => agent.destroy());

/** Milliseconds until the answer is there. */
function ask({ url }: Server, number: number, depth: number): Promise<number> {
  const positions = benchPositions();
  const { fen = "" } = positions[number % positions.length] ?? {};
  // A new move number makes a position that no cache knows.
  const anew = fen.replace(/\d+$/, String(1 + Math.floor(number / positions.length)));
  const body = JSON.stringify({ fen: anew, depth, engine: engine.id, path: engine.path });
  const askedAt = performance.now();
  return new Promise((resolve, reject) => {
    const headers = { "content-type": "application/json" };
    const call = request(`${url}/v1/eval`, { method: "POST", headers, agent }, (response) => {
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
  "searched, shallow": [] as number[],
  "searched, shallow, with Redis": [] as number[],
  searched: [] as number[],
  "searched, with Redis": [] as number[],
  "known here": [] as number[],
  "known to another node": [] as number[],
};
for (let number = 0; number < warmUp + questions; number++) {
  const turn = {
    "searched, shallow": await ask(alone, number, 5),
    "searched, shallow, with Redis": await ask(one, number, 5),
    searched: await ask(alone, number, 12),
    "searched, with Redis": await ask(one, number, 12),
    "known here": await ask(one, number, 12),
    "known to another node": await ask(other, number, 12),
  };
  if (number >= warmUp) {
    for (const what of Object.keys(takes) as (keyof typeof takes)[]) {
      takes[what].push(turn[what]);
    }
  }
}

const sorted = (what: keyof typeof takes) => takes[what].toSorted((a, b) => a - b);
for (const what of Object.keys(takes) as (keyof typeof takes)[]) {
  const all = sorted(what);
  console.log(
    `${what.padEnd(30)} median ${quantile(all, 0.5).toFixed(2)} ms, p95 ${quantile(all, 0.95).toFixed(2)} ms of ${all.length}`,
  );
}
const over = (what: keyof typeof takes, base: keyof typeof takes) =>
  (quantile(sorted(what), 0.5) - quantile(sorted(base), 0.5)).toFixed(2);
console.log(
  `a searched answer costs ${over("searched, with Redis", "searched")} ms more with Redis (goal: at most ${searchedGoalMs}), a shallow one ${over("searched, shallow, with Redis", "searched, shallow")} ms`,
);
console.log(
  `one that another node knows costs ${over("known to another node", "known here")} ms more than one that is known here (goal: at most ${knownGoalMs})`,
);
