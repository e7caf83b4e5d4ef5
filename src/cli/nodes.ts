import { silentLog } from "../log/log.ts";
import { type NodeReport, readNodes } from "../storage/redis/nodes.ts";
import { withoutControls } from "../text/controls.ts";
import { durationText } from "../text/duration-text.ts";
import { ConfigError, loadConfig } from "../wiring/config.ts";
import { connectRedis } from "../wiring/redis.ts";
import { type Command, columns, exitCode } from "./command.ts";

export const nodesCommand: Command = {
  usage: "nodes",
  about: "List the nodes that share a Redis, with their slots and searches.",
  options: { json: { type: "boolean", about: "print one line of JSON for each node" } },
  notes: [
    "Asks the Redis of KIBITZ_REDIS_URL, with KIBITZ_REDIS_PREFIX as the nodes have it. A node that ends is gone from the list at once, one that is killed or cut off within 6 seconds.",
  ],
  async run({ values, host }) {
    using redis = await connectRedis(loadConfig(host.env), silentLog);
    if (redis === undefined) {
      throw new ConfigError("KIBITZ_REDIS_URL is not set: a node without it knows of no others.");
    }
    const reports = await readNodes(redis);
    const lines = values.json
      ? reports.map((report) => JSON.stringify(jsonOf(report)))
      : columns([["ADDRESS", "VERSION", "SLOTS", "BUSY", "WAITING", "UP"], ...reports.map(rowOf)]);
    host.stdout.write(lines.map((line) => `${withoutControls(line)}\n`).join(""));
    return exitCode.ok;
  },
};

function rowOf({ address, version, slots, running, waiting, upMs }: NodeReport): readonly string[] {
  return [address, version, String(slots), String(running), String(waiting), durationText(upMs / 1000)];
}

function jsonOf({ id, address, version, upMs, slots, running, waiting }: NodeReport) {
  return { id, address, version, up_ms: upMs, slots, running, waiting };
}
