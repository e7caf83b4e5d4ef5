import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../../test/support/free-port.ts";
import { startRedis } from "../../test/support/start-redis.ts";
import { type Server, startServer } from "../../test/support/start-server.ts";
import { startHaproxy } from "./companions.ts";
import type { Program } from "./programs.ts";

/** Three nodes with Redis and HAProxy, which run as processes on this machine. */
export interface Cluster extends AsyncDisposable {
  readonly url: string;
  readonly nodes: readonly ClusterNode[];
  readonly balancer: Program;
  readonly balancerSocket: string;
  readonly redisUrl: string;
}

export interface ClusterNode {
  readonly name: string;
  readonly dataDir: string;
  readonly url: string;
  readonly pid: number;
  /** Resolves when the process of the node has exited for any reason. */
  readonly ended: Promise<unknown>;
  isRunning(): boolean;
  stop(signal?: NodeJS.Signals): Promise<number | null>;
  /** Starts the node again with the same port and data folder. */
  start(): Promise<void>;
}

interface ClusterOptions {
  readonly env?: NodeJS.ProcessEnv;
  /** The port of HAProxy. The default is a free port. */
  readonly port?: number;
  /** The path of HAProxy's configuration file. The default is the file in `deploy/haproxy/`. */
  readonly config?: string;
  readonly onLog?: (name: string, line: string) => void;
}

/** Throws Error if a node, Redis or HAProxy cannot be started. */
export async function startCluster({
  env = {},
  port,
  config,
  onLog = () => {},
}: ClusterOptions = {}): Promise<Cluster> {
  await using started = new AsyncDisposableStack();
  const redisFolder = mkdtempSync(join(tmpdir(), "kibitz-redis-"));
  started.defer(() => rmSync(redisFolder, { recursive: true, force: true }));
  const redis = await startRedis(redisFolder);
  started.defer(() => redis.stop());
  const makeNode = async (name: string) => {
    const node = await createNode(name, { KIBITZ_REDIS_URL: redis.url, ...env }, (line) => onLog(name, line));
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
    redisUrl: redis.url,
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
