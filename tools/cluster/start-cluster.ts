import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../../test/support/free-port.ts";
import { type Server, startServer } from "../../test/support/start-server.ts";
import { startHaproxy, startRedis } from "./companions.ts";
import type { Program } from "./programs.ts";

/** Redis, equal nodes and HAProxy, as processes of this machine. */
export interface Cluster extends AsyncDisposable {
  /** Of the balancer: `http://127.0.0.1:8080`. */
  readonly url: string;
  readonly nodes: readonly ClusterNode[];
  readonly balancer: Program;
  /** Where HAProxy's state can be asked. */
  readonly balancerSocket: string;
  readonly redis: Program;
  /** `redis://127.0.0.1:6379`. */
  readonly redisUrl: string;
}

/** One node, which may be stopped and started again in its place. */
export interface ClusterNode {
  readonly name: string;
  readonly dataDir: string;
  readonly url: string;
  readonly pid: number;
  /** Resolves when the process has ended, however it did. */
  readonly ended: Promise<unknown>;
  isRunning(): boolean;
  /** As an operator does, or as a fault: resolves when it is gone. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
  /** Again, on the same port with the same folder. */
  start(): Promise<void>;
}

export interface ClusterOptions {
  /** Settings of every node, added to those that make it a node. */
  readonly env?: NodeJS.ProcessEnv;
  /** Of the balancer; a free one if unset. */
  readonly port?: number;
  /** Of HAProxy, instead of the one that operators copy. */
  readonly config?: string;
  /** Takes every line of every program, and whose it is. */
  readonly onLog?: (name: string, line: string) => void;
}

/** @throws Error that says why, where one of them cannot be started */
export async function startCluster({
  env = {},
  port,
  config,
  onLog = () => {},
}: ClusterOptions = {}): Promise<Cluster> {
  await using started = new AsyncDisposableStack();
  const redisPort = await freePort();
  const redis = started.use(await startRedis(redisPort));
  const redisUrl = `redis://127.0.0.1:${redisPort}`;
  const makeNode = async (name: string) => {
    const node = await createNode(name, { KIBITZ_REDIS_URL: redisUrl, ...env }, (line) => onLog(name, line));
    started.defer(async () => {
      await node.stop();
      rmSync(node.dataDir, { recursive: true, force: true });
    });
    return node;
  };
  const names = ["node1", "node2", "node3"] as const;
  const [first, second, third] = await Promise.all([
    makeNode(names[0]),
    makeNode(names[1]),
    makeNode(names[2]),
  ]);
  const balancerSocket = join(first.dataDir, "haproxy");
  const bind = `127.0.0.1:${port ?? (await freePort())}`;
  const balancer = started.use(
    await startHaproxy({
      nodes: [addressOf(first), addressOf(second), addressOf(third)],
      bind,
      socket: balancerSocket,
      ...(config !== undefined && { config }),
      onLine: (line) => onLog("haproxy", line),
    }),
  );
  const all = started.move();
  return {
    url: `http://${bind}`,
    nodes: [first, second, third],
    balancer,
    balancerSocket,
    redis,
    redisUrl,
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

const addressOf = ({ url }: ClusterNode) => new URL(url).host;

async function createNode(
  name: string,
  env: NodeJS.ProcessEnv,
  onLog: (line: string) => void,
): Promise<ClusterNode> {
  const port = await freePort();
  const dataDir = mkdtempSync(join(tmpdir(), `kibitz-${name}-`));
  const settings = {
    PATH: process.env.PATH,
    // The balancer, which says who calls.
    KIBITZ_TRUST_PROXY: "127.0.0.1",
    KIBITZ_DATA_DIR: dataDir,
    ...env,
  };
  let server: Server;
  const start = async () => {
    server = await startServer(settings, { port, onLog });
  };
  await start();
  return {
    name,
    dataDir,
    url: `http://127.0.0.1:${port}`,
    get pid() {
      return server.pid;
    },
    get ended() {
      return server.ended;
    },
    isRunning: () => server.isRunning(),
    stop: (signal) => server.stop(signal),
    start,
  };
}
