/**
 * What nodes ask of Redis, and what it can do: commands for each request, by what is asked, as Redis counts them; and how many
 * of the commonest commands a second one `redis-server` answers on this machine, asked by `redis-benchmark`. Told in Markdown.
 *
 *     node bench/redis.ts [requests of each kind, default 200] [commands of each kind, default 100000]
 */
import { execFileSync } from "node:child_process";
import { nextQuestion, type Question } from "../test/cluster/traffic.ts";
import { freePort } from "../test/support/free-port.ts";
import { quickestSettings } from "../test/support/quickest-settings.ts";
import { startServer } from "../test/support/start-server.ts";
import { startRedis } from "../tools/cluster/companions.ts";
import { makeDataFolder } from "./data-folder.ts";

const [, , requestsGiven = "200", commandsGiven = "100000"] = process.argv;
const requests = Number(requestsGiven);

const port = await freePort();
await using _redis = await startRedis(port);
const cli = (...args: readonly string[]) =>
  execFileSync("redis-cli", ["-p", String(port), ...args], { encoding: "utf8" });

/** Commands since the last look: those that came, without those that scripts call. */
function commandsAsked(): number {
  const text = cli("info", "commandstats");
  cli("config", "resetstat");
  const countOf = (line: string) => Number(/calls=(\d+)/.exec(line)?.[1] ?? 0);
  return text
    .split("\n")
    .filter((line) => line.startsWith("cmdstat_") && !/cmdstat_(info|config|ping|client)/.test(line))
    .reduce((sum, line) => sum + countOf(line), 0);
}

const { KIBITZ_PORT: _, ...settings } = quickestSettings;
console.log("| access | request | commands of Redis, those in scripts too |");
console.log("|---|---|---|");
for (const access of ["open", "public"]) {
  const server = await startServer({
    ...settings,
    PATH: process.env.PATH,
    KIBITZ_ACCESS: access,
    KIBITZ_REDIS_URL: `redis://127.0.0.1:${port}`,
    KIBITZ_DATA_DIR: makeDataFolder(),
  });
  const ask = async (question: Question) => {
    const response = await fetch(`${server.url}/v1/eval`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(question),
    });
    await response.arrayBuffer();
    return response.status;
  };
  // Within the window of one address.
  const count = access === "public" ? Math.min(requests, 25) : requests;
  const known = nextQuestion(6);
  const kinds: Readonly<Record<string, () => Question>> = {
    "searched, depth 6": () => nextQuestion(6),
    "the same again": () => known,
  };
  await ask(known);
  for (const [kind, questionOf] of Object.entries(kinds)) {
    commandsAsked();
    for (let at = 0; at < count; at++) {
      const status = await ask(questionOf());
      if (status !== 200) {
        throw new Error(`refused with ${status}`);
      }
    }
    console.log(`| \`${access}\` | ${kind} | ${(commandsAsked() / count).toFixed(1)} |`);
  }
  await server.stop();
}

/** A window of requests, as small as one can be. */
const script =
  "local n = redis.call('INCR', KEYS[1]) if n == 1 then redis.call('PEXPIRE', KEYS[1], 60000) end return n";
console.log("\n| command | one `redis-server`, a second | 16 at a time on a connection |");
console.log("|---|---|---|");
const kinds: Readonly<Record<string, readonly string[]>> = {
  GET: ["get", "key:__rand_int__"],
  "SET with a lifetime, 1 kB": ["set", "key:__rand_int__", "x".repeat(1000), "px", "60000"],
  "a script of two commands": ["eval", script, "1", "window:__rand_int__"],
};
for (const [kind, command] of Object.entries(kinds)) {
  const perSecond = (atATime: number) => {
    const options = [
      "-p",
      String(port),
      "-n",
      commandsGiven,
      "-c",
      "50",
      "-P",
      String(atATime),
      "-r",
      "10000",
      "--csv",
    ];
    const printed = execFileSync("redis-benchmark", [...options, ...command], { encoding: "utf8" });
    return Math.round(
      Number(
        printed
          .trim()
          .split("\n")
          .at(-1)
          ?.match(/","([\d.]+)"/)?.[1],
      ),
    );
  };
  console.log(`| ${kind} | ${perSecond(1)} | ${perSecond(16)} |`);
}
process.exit();
