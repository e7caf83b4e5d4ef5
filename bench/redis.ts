/**
 * What nodes ask of Redis, and what it can do: operations for each request, by what is asked, as two nodes count them and Redis
 * counts the commands in them; and how many of the commonest commands a second one `redis-server` answers on this machine, asked by
 * `redis-benchmark`. The first does not depend on what else the machine does. Told in Markdown.
 *
 *     node bench/redis.ts [requests of each kind, default 20] [commands of each kind, default 100000; 0 for none]
 */
import { execFileSync } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { nextQuestion, type Question } from "../test/cluster/traffic.ts";
import { freePort } from "../test/support/free-port.ts";
import { quickestSettings } from "../test/support/quickest-settings.ts";
import { startServer } from "../test/support/start-server.ts";
import { startRedis } from "../tools/cluster/companions.ts";
import { makeDataFolder } from "./data-folder.ts";

const [, , requestsGiven = "20", commandsGiven = "100000"] = process.argv;
const requests = Number(requestsGiven);

/** What nodes ask without being asked themselves, by the clock. */
const byTheClock = [
  "announce_node",
  "zrange",
  "mget",
  "time",
  "hold",
  "touch_keys",
  "prune_keys",
  "renew_lease",
];
/** Until what nobody waits for was told, in milliseconds. */
const settledMs = 500;

const port = await freePort();
await using _redis = await startRedis(port);
const cli = (...args: readonly string[]) =>
  execFileSync("redis-cli", ["-p", String(port), ...args], { encoding: "utf8" });

interface Node {
  readonly url: string;
  readonly metricsUrl: string;
  stop(): Promise<unknown>;
}

async function startNode(access: string): Promise<Node> {
  const metricsPort = await freePort();
  const { KIBITZ_PORT: _, ...settings } = quickestSettings;
  const server = await startServer({
    ...settings,
    PATH: process.env.PATH,
    KIBITZ_ACCESS: access,
    KIBITZ_REDIS_URL: `redis://127.0.0.1:${port}`,
    KIBITZ_METRICS_PORT: String(metricsPort),
    // Each request may come from an address of its own, so that no window is full.
    KIBITZ_TRUST_PROXY: "127.0.0.1",
    KIBITZ_DATA_DIR: makeDataFolder(),
  });
  return {
    url: server.url,
    metricsUrl: `http://127.0.0.1:${metricsPort}/metrics`,
    stop: () => server.stop(),
  };
}

type Counts = ReadonlyMap<string, number>;

/** Operations since the start, by name, of all nodes together. */
async function operationsOf(nodes: readonly Node[]): Promise<Counts> {
  const counts = new Map<string, number>();
  for (const { metricsUrl } of nodes) {
    const text = await (await fetch(metricsUrl)).text();
    const lines = text.matchAll(
      /^kibitz_redis_operation_duration_seconds_count\{operation="(\w+)"\} (\d+)$/gm,
    );
    for (const [, name = "", count = "0"] of lines) {
      counts.set(name, (counts.get(name) ?? 0) + Number(count));
    }
  }
  if (counts.size === 0) {
    throw new Error("the nodes have told of no operation");
  }
  return counts;
}

/** Commands that Redis was asked since its start, those in scripts too: those that come by an operation of a node. */
function commandsOf(): number {
  const counts = [...cli("info", "commandstats").matchAll(/^cmdstat_([^:]+):calls=(\d+)/gm)];
  const others = /^(info|config|ping|client|hello|script|subscribe|unsubscribe|select)/;
  return counts.reduce((sum, [, name = "", calls]) => sum + (others.test(name) ? 0 : Number(calls)), 0);
}

const asked = { addresses: 0 };
const freshAddress = () => {
  const number = asked.addresses++;
  return `10.${number >> 16}.${(number >> 8) & 255}.${number & 255}`;
};

async function ask(
  { url }: Node,
  body: object,
  {
    path = "/v1/eval",
    key,
    address = freshAddress(),
  }: { path?: string; key?: string; address?: string } = {},
) {
  const response = await fetch(url + path, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "x-forwarded-for": address,
      ...(key !== undefined && { authorization: `Bearer ${key}` }),
    },
    body: JSON.stringify(body),
  });
  return {
    status: response.status,
    body: (await response.json()) as { readonly key?: string; readonly cached?: boolean },
  };
}

async function newKey(node: Node): Promise<string> {
  const { body } = await ask(node, {}, { path: "/v1/keys" });
  if (body.key === undefined) {
    throw new Error("no key was issued");
  }
  return body.key;
}

interface Kind {
  readonly what: string;
  readonly status: number;
  /** Does what is not counted, and gives what asks once. */
  prepare(): Promise<() => ReturnType<typeof ask>>;
}

/** Asks, and tells what of it came to Redis. */
async function count(access: string, nodes: readonly Node[], { what, status, prepare }: Kind): Promise<void> {
  const once = await prepare();
  await sleep(settledMs);
  const [before, commandsBefore, begunAt] = [await operationsOf(nodes), commandsOf(), performance.now()];
  for (let at = 0; at < requests; at++) {
    const answer = await once();
    if (answer.status !== status) {
      throw new Error(`${what}: answered with ${answer.status} in the place of ${status}`);
    }
  }
  await sleep(settledMs);
  const [after, commandsAfter, endedAt] = [await operationsOf(nodes), commandsOf(), performance.now()];
  const each = [...after]
    .map(([name, total]) => [name, (total - (before.get(name) ?? 0)) / requests] as const)
    .filter(([name, share]) => share > 0 && !byTheClock.includes(name));
  const shown = each.map(
    ([name, share]) => `${share === 1 ? "" : `${Number(share.toFixed(2))} `}\`${name}\``,
  );
  const sum = each.reduce((total, [, share]) => total + share, 0);
  const idle = ((endedAt - begunAt) / 1000) * nodes.length * idleCommands;
  const commands = Math.max(0, commandsAfter - commandsBefore - idle) / requests;
  console.log(
    `| \`${access}\` | ${what} | ${Number(sum.toFixed(2))} | ${shown.join(", ") || "none"} | ${commands.toFixed(0)} |`,
  );
}

/** Commands a second of a node that nobody asks, those in scripts too. */
async function idleCommandsOf(nodes: readonly Node[]): Promise<number> {
  const seconds = 20;
  const before = commandsOf();
  await sleep(seconds * 1000);
  return (commandsOf() - before) / seconds / nodes.length;
}

const shallow = 6;
const deep = 12;

async function kindsOf([one, other]: readonly [Node, Node], access: string): Promise<readonly Kind[]> {
  const known = async (depth: number, by: Node) => {
    const question = nextQuestion(depth);
    await ask(by, question);
    return question;
  };
  const searched = (depth: number): Kind => ({
    what: `searched, depth ${depth}`,
    status: 200,
    prepare: async () => () => ask(one, nextQuestion(depth)),
  });
  const kinds: readonly Kind[] = [
    {
      what: "known to the node",
      status: 200,
      async prepare() {
        const question = await known(deep, one);
        return () => ask(one, question);
      },
    },
    {
      what: `known to another node, depth ${deep}`,
      status: 200,
      async prepare() {
        const questions: Question[] = [];
        for (let at = 0; at < requests; at++) {
          questions.push(await known(deep, other));
        }
        return async () => {
          const answer = await ask(one, questions.pop() ?? {});
          return answer;
        };
      },
    },
    searched(shallow),
    searched(deep),
    { what: "wrong: refused with 400", status: 400, prepare: async () => () => ask(one, { fen: "none" }) },
  ];
  if (access === "open") {
    return kinds;
  }
  return [
    ...kinds,
    {
      what: "beyond its window: refused with 429",
      status: 429,
      async prepare() {
        const [question, address] = [await known(shallow, one), freshAddress()];
        while ((await ask(one, question, { address })).status === 200) {
          // Until the window is full.
        }
        return () => ask(one, question, { address });
      },
    },
    {
      what: "with a key that the node knows, known answer",
      status: 200,
      async prepare() {
        const [question, key] = [await known(shallow, one), await newKey(one)];
        await ask(one, question, { key });
        return () => ask(one, question, { key });
      },
    },
    {
      what: "with a key that it has not seen for 3 s, known answer",
      status: 200,
      async prepare() {
        const question = await known(shallow, one);
        const keys: string[] = [];
        for (let at = 0; at < requests; at++) {
          keys.push(await newKey(other));
        }
        return () => ask(one, question, { key: keys.pop() ?? "" });
      },
    },
    {
      what: "with a key that nobody knows: refused with 401",
      status: 401,
      async prepare() {
        const { createApiKey } = await import("../src/access/keys.ts");
        return () => ask(one, { fen: "startpos" }, { key: createApiKey() });
      },
    },
    {
      what: "`POST /v1/keys`",
      status: 200,
      prepare: async () => () => ask(one, {}, { path: "/v1/keys" }),
    },
  ];
}

let idleCommands = 0;
console.log("| access | request | operations | which | commands in them |");
console.log("|---|---|---|---|---|");
for (const access of ["open", "public"]) {
  const nodes = [await startNode(access), await startNode(access)] as const;
  idleCommands = await idleCommandsOf(nodes);
  for (const kind of await kindsOf(nodes, access)) {
    await count(access, nodes, kind);
  }
  await Promise.all(nodes.map((node) => node.stop()));
}
console.log(`\nA node that nobody asks: ${idleCommands.toFixed(1)} commands a second, those in scripts too.`);
if (Number(commandsGiven) === 0) {
  process.exit();
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
