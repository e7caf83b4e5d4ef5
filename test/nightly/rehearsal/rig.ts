import { chmodSync, copyFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { mixOf, pick } from "../../../bench/soak/mix.ts";
import { freePort } from "../../support/free-port.ts";
import { nativeStockfish } from "../../support/native-stockfish.ts";
import { type RedisProcess, startRedis } from "../../support/start-redis.ts";
import { type Server, startServer } from "../../support/start-server.ts";
import { type Prometheus, startPrometheus } from "./prometheus.ts";

/** A node with callers, and the Prometheus that watches it. */
export interface Rig extends AsyncDisposable {
  readonly server: Server;
  readonly prometheus: Prometheus;
  /** The node's data folder. */
  readonly dataDir: string;
  /** Its only engine, which is nobody else's and may be taken away. */
  readonly engineFile: string;
  /** Log lines so far. */
  readonly log: readonly string[];
  /** Undefined if the node is alone. */
  readonly redis: RedisProcess | undefined;
}

/** How much shorter the rehearsal's times are: an hour is 36 seconds, and what has to last five minutes three seconds. */
const factor = 100;

/** Pause between two calls: slow enough that a busy machine keeps up. */
const callEveryMs = 400;

/**
 * @param folder for all that is written
 * @param shares whether the node has a Redis, as one of several has
 */
export async function startRig(folder: string, shares = false): Promise<Rig> {
  const stockfish = nativeStockfish();
  if (stockfish === undefined) {
    throw new Error("no native Stockfish: apt-get install stockfish");
  }
  const [dataDir, engines] = [join(folder, "data"), join(folder, "engines")];
  // Engines run as somebody else, who has to get there.
  chmodSync(folder, 0o755);
  mkdirSync(engines, { mode: 0o755 });
  const engineFile = join(engines, "stockfish");
  copyFileSync(stockfish, engineFile);
  const metricsPort = await freePort();
  const log: string[] = [];
  await using open = new AsyncDisposableStack();
  const redis = shares ? await startRedis(folder) : undefined;
  open.defer(async () => void (await redis?.stop()));
  const server = await startServer(
    {
      PATH: process.env.PATH,
      NODE_OPTIONS: `--import=${new URL("jumping-clock.ts", import.meta.url)}`,
      KIBITZ_DATA_DIR: dataDir,
      KIBITZ_METRICS_PORT: String(metricsPort),
      KIBITZ_NATIVE_ENGINES: engineFile,
      KIBITZ_DEFAULT_ENGINE: nativeId,
      KIBITZ_SLOTS: "2",
      // Each caller of the mix has an address of its own.
      KIBITZ_TRUST_PROXY: "127.0.0.1",
      KIBITZ_QUEUE_MAX_WAIT_MS: "3000",
      KIBITZ_CACHE_MB: "2",
      ...(redis && { KIBITZ_REDIS_URL: redis.url }),
    },
    { onLog: (line) => void log.push(line) },
  );
  open.defer(async () => void (await server.stop("SIGKILL")));
  const prometheus = open.use(await startPrometheus({ folder, port: metricsPort, factor }));
  const leaving = new AbortController();
  const calling = call(server.url, leaving.signal);
  open.defer(async () => {
    leaving.abort();
    await calling;
  });
  const all = open.move();
  return {
    server,
    prometheus,
    dataDir,
    engineFile,
    log,
    redis,
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

/** Everything that callers do, all the time. Whether they are answered is what alerts and logs are to tell. */
async function call(url: string, signal: AbortSignal): Promise<void> {
  const mix = mixOf(url);
  const underWay = new Set<Promise<void>>();
  while (!signal.aborted) {
    const asked = pick(mix)
      .run()
      .catch(() => {})
      .finally(() => underWay.delete(asked));
    underWay.add(asked);
    await sleep(callEveryMs);
  }
}

/** Debian's. */
const nativeId = "stockfish-15.1";
