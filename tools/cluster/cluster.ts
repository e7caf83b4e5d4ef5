/** Starts three nodes, Redis and HAProxy. Usage: `npm run cluster [-- --port 8080]`. */
import { once } from "node:events";
import { parseArgs } from "node:util";
import { components, lackOf } from "../../test/support/components.ts";
import { startCluster } from "./start-cluster.ts";

const { values } = parseArgs({ options: { port: { type: "string" } } });
const port = values.port === undefined ? undefined : Number(values.port);
if (port !== undefined && !(Number.isInteger(port) && port > 0 && port < 65_536)) {
  console.error(`--port must be a port, 1 to 65535, and is ${values.port}`);
  process.exit(2);
}

const needed = ["redis", "haproxy"] as const;
const missing = needed.filter((need) => !components[need].isHere());
if (missing.length > 0) {
  console.error(missing.map((need) => `There is ${lackOf(need)}.`).join("\n"));
  process.exit(1);
}

/** The nodes do not get the values of these environment variables, because each node gets its own value. */
const own = ["KIBITZ_PORT", "KIBITZ_HOST", "KIBITZ_DATA_DIR", "KIBITZ_TRUST_PROXY", "KIBITZ_REDIS_URL"];
const env = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => name.startsWith("KIBITZ_") && !own.includes(name)),
);

// Listen for signals before the nodes start, so that Ctrl-C during the start also stops them.
const stopping = Promise.race([once(process, "SIGINT"), once(process, "SIGTERM")]);
let isStopping = false;
stopping.then(() => {
  isStopping = true;
  process.on("SIGINT", () => process.exit(130));
});

/** True for warnings and errors of a node, and for HAProxy's messages about nodes. */
function isWorthReading(name: string, line: string): boolean {
  return !isStopping && (name === "haproxy" ? !line.startsWith("[") : /"level":[456]0/.test(line));
}

console.log("Starting Redis, three nodes and HAProxy …");
try {
  await using cluster = await startCluster({
    // Use one slot for each node, because three nodes with the default would need three times the cores of this machine.
    env: { KIBITZ_SLOTS: "1", KIBITZ_ACCESS: "open", ...env },
    ...(port !== undefined && { port }),
    onLog: (name, line) => {
      if (isWorthReading(name, line)) {
        console.log(`${name.padEnd(8)}| ${line}`);
      }
    },
  });
  if (isStopping) {
    process.exit(130);
  }
  const { url, nodes, redisUrl, balancer } = cluster;
  for (const node of nodes) {
    node.ended.then(() => {
      if (!isStopping) {
        console.log(`${node.name} is gone; it stays so. Restart the cluster to get it back.`);
      }
    });
  }
  console.log(`
${url} is HAProxy, with deploy/haproxy/haproxy.cfg. Behind it:
${nodes.map((node) => `  ${node.name}  ${node.url}  process ${node.pid}`).join("\n")}
  redis  ${redisUrl}

Ask it:
  curl -s ${url}/v1/eval -H 'Content-Type: application/json' -d '{"fen": "startpos", "depth": 12}'
  curl -N ${url}/v1/eval/stream -H 'Content-Type: application/json' -d '{"fen": "startpos", "depth": 20}'
  grpcurl -plaintext -d '{"fen": "startpos", "depth": 12}' ${new URL(url).host} chess.analysis.v1.AnalysisService/Evaluate

See what happens when a node dies: kill -9 ${nodes[0]?.pid}. Ctrl-C stops everything (HAProxy is process ${balancer.pid}).`);
  await stopping;
  console.log("Stopping …");
} catch (error) {
  if (!isStopping) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}
process.exit();
