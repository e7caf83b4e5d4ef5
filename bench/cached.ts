/**
 * CPU of a cached answer over `POST /v1/eval`, beside a bare `node:http` server that parses the same body and
 * sends the same bytes. All are processes of their own, asked over 8 kept connections, in turns. Callers are counted,
 * against a plan that is large enough, and one of them has a key.
 *
 *     node bench/cached.ts [requests, default 30000]
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { quickestSettings } from "../test/support/quickest-settings.ts";
import { startServer } from "../test/support/start-server.ts";
import { makeDataFolder } from "./data-folder.ts";

const connections = 8;
const body = JSON.stringify({ fen: "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", depth: 14 });

if (process.argv[2] === "bare") {
  serveBare(Buffer.from(process.argv[3] ?? "", "base64"));
} else {
  await compare(Number(process.argv[2] ?? 30_000));
}

/** Tells its port on standard output. */
function serveBare(answer: Buffer): void {
  const headers = { "content-type": "application/json", "content-length": answer.length };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      if (typeof JSON.parse(Buffer.concat(chunks).toString("utf8")).fen !== "string") {
        throw new TypeError("no fen");
      }
      response.writeHead(200, headers);
      response.end(answer);
    });
  });
  server.listen(0, "127.0.0.1", () => {
    const address = server.address();
    console.log(typeof address === "object" && address ? address.port : 0);
  });
}

interface Measured {
  readonly pid: number;
  readonly port: number;
  readonly name: string;
  /** A header line, for callers with a key. */
  readonly authorization: string;
  stop(): Promise<unknown>;
}

async function compare(requests: number): Promise<void> {
  const keyed = await startKibitz("Kibitz, with a key", {});
  const servers = [
    await startKibitz("Kibitz, no limits", { KIBITZ_ACCESS: "open" }),
    await startKibitz("Kibitz", {}),
    { ...keyed, authorization: `authorization: Bearer ${await newKey(keyed.port)}\r\n` },
    await startKibitz("Kibitz, log info", { KIBITZ_LOG_LEVEL: "info" }),
  ];
  let answer: Buffer = Buffer.alloc(0);
  for (const server of servers) {
    await ask(server, 1);
    answer = await ask(server, 1);
  }
  if (!answer.includes('"cached":true')) {
    throw new Error(`not cached: ${answer}`);
  }
  const bare = await startBare(answer);
  const all = [bare, ...servers];
  const spent = new Map<Measured, number>(all.map((server) => [server, 0]));
  const rounds = 6;
  for (let round = -1; round < rounds; round++) {
    for (const server of all) {
      const before = cpuMs(server.pid);
      await ask(server, Math.ceil(requests / rounds / connections));
      // The first round is for V8 to compile the hot functions.
      if (round >= 0) {
        spent.set(server, (spent.get(server) ?? 0) + cpuMs(server.pid) - before);
      }
    }
  }
  const microsecondsOf = (server: Measured) => ((spent.get(server) ?? 0) * 1000) / requests;
  for (const server of all) {
    const ratio = microsecondsOf(server) / microsecondsOf(bare);
    console.log(
      `${server.name.padEnd(20)} ${microsecondsOf(server).toFixed(1)} µs of CPU a request, ${ratio.toFixed(2)} times bare`,
    );
  }
  console.log("goal: at most 2.5 times");
  await Promise.all(all.map((server) => server.stop()));
}

/** For keys, with plans without an end. */
function makeFolder(): string {
  const folder = makeDataFolder();
  const rates = [
    { name: "minute", quota: 1e9, window_s: 60, unit: "request" },
    { name: "engine-day", quota: 1e9, window_s: 86_400, unit: "engine_ms" },
  ];
  const plans = [
    { id: "keyless", limits: { rates: rates.slice(0, 1) } },
    { id: "free", limits: { rates } },
  ];
  writeFileSync(join(folder, "plans.json"), JSON.stringify({ plans }));
  return folder;
}

async function newKey(port: number): Promise<string> {
  const headers = { "content-type": "application/json" };
  const answer = await fetch(`http://127.0.0.1:${port}/v1/keys`, { method: "POST", headers, body: "{}" });
  return ((await answer.json()) as { readonly key: string }).key;
}

async function startKibitz(name: string, env: Readonly<Record<string, string>>): Promise<Measured> {
  const folder = makeFolder();
  const server = await startServer(
    {
      ...quickestSettings,
      KIBITZ_ACCESS: "public",
      // Profiles the server as well: `node --cpu-prof bench/cached.ts`.
      NODE_OPTIONS: process.execArgv.join(" "),
      KIBITZ_LOG_LEVEL: "silent",
      KIBITZ_DATA_DIR: folder,
      KIBITZ_PLANS: join(folder, "plans.json"),
      ...env,
    },
    { stdout: "ignore" },
  );
  return { ...server, name, authorization: "" };
}

async function startBare(answer: Buffer): Promise<Measured> {
  const child = spawn(process.execPath, [fileURLToPath(import.meta.url), "bare", answer.toString("base64")], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = once(child, "exit");
  // A run that fails leaves nothing behind.
  process.on("exit", () => child.kill("SIGTERM"));
  const [line] = await once(child.stdout, "data");
  return {
    pid: child.pid ?? 0,
    port: Number(line),
    name: "bare node:http",
    authorization: "",
    async stop() {
      child.kill("SIGKILL");
      await exited;
    },
  };
}

/** Asks so often over each connection, and gives the body of the last answer. */
async function ask({ port, authorization }: Measured, times: number): Promise<Buffer> {
  const call = `POST /v1/eval HTTP/1.1\r\nhost: localhost\r\n${authorization}content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
  const answers = Array.from({ length: connections }, () => askOver(connect(port, "127.0.0.1"), call, times));
  // To wake a client that sleeps costs its server as much as half a bare answer, and only the slower server would
  // find it asleep: so it never sleeps.
  let asking = true;
  const stayAwake = () => {
    if (asking) {
      setImmediate(stayAwake);
    }
  };
  stayAwake();
  const [answer] = await Promise.all(answers);
  asking = false;
  return answer ?? Buffer.alloc(0);
}

/** A plain socket, because a client that costs more than the server would leave it idle. */
async function askOver(socket: Socket, call: string, times: number): Promise<Buffer> {
  const done = Promise.withResolvers<Buffer>();
  let received: Buffer = Buffer.alloc(0);
  let left = times;
  socket.setNoDelay();
  socket.on("error", done.reject);
  socket.on("close", () => done.reject(new Error("the server closed the connection")));
  socket.on("data", (chunk: Buffer) => {
    received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
    const start = received.indexOf("\r\n\r\n") + 4;
    const length = /content-length: (\d+)/i.exec(received.toString("latin1", 0, start))?.[1];
    if (start < 4 || received.length < start + Number(length)) {
      return;
    }
    const answer = received.subarray(start);
    received = Buffer.alloc(0);
    if (--left === 0) {
      done.resolve(answer);
    } else {
      socket.write(call);
    }
  });
  socket.write(call);
  try {
    return await done.promise;
  } finally {
    socket.destroy();
  }
}

/** User and system time of a process, all its threads, in milliseconds. */
function cpuMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  // Fields 14 and 15, in ticks of 10 ms.
  return (Number(fields[11]) + Number(fields[12])) * 10;
}
