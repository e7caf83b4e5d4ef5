import { silentLog } from "../log/log.ts";
import { differingEngines, type NodeReport, readNodes } from "../storage/redis/nodes.ts";
import { ConfigError, loadConfig } from "../wiring/config.ts";
import { shownBuilds } from "../wiring/nodes.ts";
import { connectRedis } from "../wiring/redis.ts";
import { type Command, columns, exitCode, UsageError } from "./command.ts";

export const nodesCommand: Command = {
  usage: "nodes",
  about: "List the nodes that share a Redis: what they do, and whether their engines differ.",
  options: { json: { type: "boolean", about: "print one line of JSON for each node" } },
  notes: [
    "Asks the Redis of KIBITZ_REDIS_URL, with KIBITZ_REDIS_PREFIX as the nodes have it. A node that ends is gone from the list",
    "at once, one that is killed or cut off within 6 seconds.",
  ],
  async run({ values, positionals, host }) {
    if (positionals.length > 0) {
      throw new UsageError("nodes takes no arguments");
    }
    using redis = await connectRedis(loadConfig(host.env), silentLog);
    if (redis === undefined) {
      throw new ConfigError("KIBITZ_REDIS_URL is not set: a node without it knows of no others.");
    }
    const reports = await readNodes(redis);
    const differing = differingEngines(reports);
    const differs = (id: string, path: string) =>
      differing.some((engine) => engine.id === id && engine.path === path);
    const lines = values.json
      ? reports.map((report) => JSON.stringify(jsonOf(report, differs)))
      : [
          ...columns([
            ["ADDRESS", "VERSION", "SLOTS", "BUSY", "WAITING", "UP", "ENGINES"],
            ...reports.map(rowOf),
          ]),
          ...differing.map(
            (engine) => `\n${engine.id} (${engine.path}) is not the same everywhere: ${shownBuilds(engine)}`,
          ),
        ];
    host.stdout.write(lines.map((line) => `${line}\n`).join(""));
    return exitCode.ok;
  },
};

function rowOf({ address, version, slots, running, waiting, upMs, engines }: NodeReport) {
  const names = engines.map(({ id, path }) => `${id} (${path})`).join(", ");
  return [address, version, String(slots), String(running), String(waiting), shownTime(upMs), names];
}

function jsonOf(report: NodeReport, differs: (id: string, path: string) => boolean) {
  const { id, address, version, upMs, slots, running, waiting, engines } = report;
  return {
    id,
    address,
    version,
    up_ms: upMs,
    slots,
    running,
    waiting,
    engines: engines.map((engine) => ({ ...engine, differs: differs(engine.id, engine.path) })),
  };
}

/** `3 d 4 h`, `4 h 5 min`, `5 min 6 s` */
function shownTime(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  const [days, hours, minutes] = [seconds / 86_400, (seconds / 3600) % 24, (seconds / 60) % 60].map(
    Math.floor,
  );
  if (days) {
    return `${days} d ${hours} h`;
  }
  return hours ? `${hours} h ${minutes} min` : `${minutes} min ${seconds % 60} s`;
}
