import { chmodSync, copyFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { mixOf, pick } from "../../../bench/soak/mix.ts";
import { freePort } from "../../support/free-port.ts";
import { nativeStockfish } from "../../support/native-stockfish.ts";
import { type RedisProcess, startRedis } from "../../support/start-redis.ts";
import { type Server, startServer } from "../../support/start-server.ts";
import { type Prometheus, startPrometheus } from "./prometheus.ts";

export interface Rig extends AsyncDisposable {
  readonly server: Server;
  readonly prometheus: Prometheus;
  readonly dataDir: string;
  /** A copy of Stockfish, made for this node. It is the node's only engine. */
  readonly engineFile: string;
  readonly log: readonly string[];
  readonly redis: RedisProcess | undefined;
}

/** All times in the alert rules are divided by this factor. For example, an hour becomes 36 seconds. */
const factor = 100;

/** The pause between two requests, in milliseconds. Even a busy machine can answer requests at this rate. */
const callEveryMs = 400;

/**
 * Starts the node, its callers and Prometheus. @param folder the folder for all files @param shares true if the node uses a
 * Redis
 */
export async function startRig(folder: string, shares = false): Promise<Rig> {
  const stockfish = nativeStockfish();
  if (stockfish === undefined) {
    throw new Error("no native Stockfish: apt-get install stockfish");
  }
  const [dataDir, engines] = [join(folder, "data"), join(folder, "engines")];
  // Engines run as another user, who needs access to the folder.
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
      // The callers send their address in X-Forwarded-For.
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

/**
 * Sends requests of all kinds until the signal is aborted. Requests fail while a fault is simulated, so failed requests are
 * ignored.
 */
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

/** The engine id of Debian's Stockfish. */
const nativeId = "stockfish-15.1";
