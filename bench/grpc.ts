/**
 * CPU of a cached answer over gRPC, one and a stream, beside the same over plain JSON, and beside the least servers of
 * Node that read the same bytes and send the same answer: `node:http`, and `node:http2` with its compat API and without.
 * All are processes of their own, asked by `h2load` (Debian: nghttp2-client) with 8 calls at a time, in turns; Kibitz logs at info,
 * with `KIBITZ_ACCESS=open`.
 *
 *     node bench/grpc.ts [requests of each row, default 12000]
 */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import {
  connect,
  createServer as createHttp2Server,
  type Http2Server,
  type ServerHttp2Stream,
} from "node:http2";
import type { Server } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { create, toBinary } from "@bufbuild/protobuf";
import { AnalysisService } from "../gen/chess/analysis/v1/analysis_service_pb.ts";
import { quickestSettings } from "../test/support/quickest-settings.ts";
import { startServer } from "../test/support/start-server.ts";
import { makeDataFolder } from "./data-folder.ts";
import { askedTwice } from "./service/cached.ts";
import { quantile } from "./service/statistics.ts";
import { cpuTimesOf } from "./vital-signs.ts";

const { input } = AnalysisService.method.evaluate;
const callsAtOnce = 8;
const rounds = 6;
const question = { fen: "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", depth: 14 };

const bareServers: Readonly<Record<string, (answer: Buffer) => Server>> = {
  "bare node:http": (answer) => {
    const headers = { "content-type": "application/json", "content-length": answer.length };
    const take: RequestListener = (request, response) => {
      request.resume().on("end", () => response.writeHead(200, headers).end(answer));
    };
    return createServer(take);
  },
  "bare node:http2, compat": (answer) =>
    createHttp2Server((request, response) => {
      request.resume().on("end", () => {
        response.writeHead(200, { "content-type": "application/grpc+proto" });
        response.addTrailers({ "grpc-status": "0" });
        response.end(answer);
      });
    }),
  "bare node:http2, streams": (answer) =>
    createHttp2Server().on("stream", (stream: ServerHttp2Stream) => {
      stream.resume().on("end", () => {
        stream.respond({ "content-type": "application/grpc+proto" }, { waitForTrailers: true });
        stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
        stream.end(answer);
      });
    }),
};

const [, , first = "12000", file = ""] = process.argv;
const bare = bareServers[first]?.(readFileSync(file));
if (bare) {
  tellPort(bare);
} else {
  await compare(Number(first));
}

function tellPort(server: Server | Http2Server): void {
  server.listen(0, "127.0.0.1", () => {
    const address = server.address();
    console.log(typeof address === "object" && address ? address.port : 0);
  });
}

/** A server that is measured. */
interface Measured {
  readonly pid: number;
  readonly port: number;
  stop(): Promise<unknown>;
}

/** A kind of call to a server. */
interface Row {
  readonly name: string;
  readonly server: Measured;
  readonly path: string;
  readonly type: string;
  /** File with the body of the request. */
  readonly body: string;
  readonly connections: number;
  /** Over HTTP/1.1. */
  readonly http1?: true;
}

async function compare(requests: number): Promise<void> {
  const folder = makeDataFolder();
  const inFolder = (name: string, bytes: Uint8Array | string) => {
    writeFileSync(join(folder, name), bytes);
    return join(folder, name);
  };
  const json = { type: "application/json", body: inFolder("request.json", JSON.stringify(question)) };
  const message = toBinary(input, create(input, question));
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(message.length, 1);
  const grpc = { type: "application/grpc", body: inFolder("request.grpc", Buffer.concat([prefix, message])) };
  const calls = {
    unary: "/chess.analysis.v1.AnalysisService/Evaluate",
    stream: "/chess.analysis.v1.AnalysisService/StreamEvaluate",
  };

  const kibitz = await startKibitz(folder);
  const inJson = await askedTwice(`http://127.0.0.1:${kibitz.port}`, question);
  const inGrpc = await answerOverGrpc(kibitz.port, calls.unary, readFileSync(grpc.body));
  const startBare = (name: string, answer: Uint8Array) =>
    startLeast(name, inFolder(`${name}.answer`.replaceAll("/", "-"), answer));
  const http = await startBare("bare node:http", Buffer.from(inJson));
  const compat = await startBare("bare node:http2, compat", inGrpc);
  const streams = await startBare("bare node:http2, streams", inGrpc);

  const overHttp1 = { ...json, connections: callsAtOnce, http1: true } as const;
  const overHttp2 = (name: string, server: Measured, path: string): Row[] => [
    { ...grpc, name: `${name}, ${callsAtOnce} connections`, server, path, connections: callsAtOnce },
    { ...grpc, name: `${name}, 1 connection`, server, path, connections: 1 },
  ];
  const rows: readonly Row[] = [
    { ...overHttp1, name: "bare node:http", server: http, path: "/v1/eval" },
    { ...overHttp1, name: "Kibitz, JSON", server: kibitz, path: "/v1/eval" },
    { ...overHttp1, name: "Kibitz, JSON stream", server: kibitz, path: "/v1/eval/stream" },
    ...overHttp2("bare node:http2, compat", compat, calls.unary),
    ...overHttp2("bare node:http2, streams", streams, calls.unary),
    ...overHttp2("Kibitz, gRPC", kibitz, calls.unary),
    ...overHttp2("Kibitz, gRPC stream", kibitz, calls.stream),
  ];
  const spent = new Map<Row, number[]>(rows.map((row) => [row, []]));
  for (let round = -1; round < rounds; round++) {
    for (const row of rows) {
      const count = Math.ceil(requests / rounds);
      const before = cpuTimesOf(row.server.pid).ownMs;
      await load(row, count);
      // The first round is for V8 to compile the hot functions.
      if (round >= 0) {
        spent.get(row)?.push(((cpuTimesOf(row.server.pid).ownMs - before) * 1000) / count);
      }
    }
  }
  const microsecondsOf = (name: string) =>
    median(spent.get(rows.find((row) => row.name === name) as Row) ?? []);
  for (const [{ name }, each] of spent) {
    const base =
      name.includes("stream") && name.startsWith("Kibitz") ? "Kibitz, JSON stream" : "Kibitz, JSON";
    const ratio = (median(each) / microsecondsOf(base)).toFixed(2);
    const spread = `${Math.min(...each).toFixed(0)} to ${Math.max(...each).toFixed(0)}`;
    console.log(
      `${name.padEnd(42)} ${median(each).toFixed(0).padStart(4)} µs of CPU a call (${spread}), ${ratio} times "${base}"`,
    );
  }
  console.log("goal: at most 2.5 times");
  await Promise.all([kibitz, http, compat, streams].map((server) => server.stop()));
}

function startKibitz(folder: string): Promise<Measured> {
  return startServer(
    {
      ...quickestSettings,
      // Profiles the server as well: `node --cpu-prof bench/grpc.ts`.
      NODE_OPTIONS: process.execArgv.join(" "),
      KIBITZ_LOG_LEVEL: "info",
      KIBITZ_DATA_DIR: folder,
    },
    { stdout: "ignore" },
  );
}

/** The message of an answer, with its prefix. */
async function answerOverGrpc(port: number, path: string, body: Buffer): Promise<Buffer> {
  const session = connect(`http://127.0.0.1:${port}`);
  const call = session.request({
    ":method": "POST",
    ":path": path,
    "content-type": "application/grpc",
    te: "trailers",
  });
  const chunks: Buffer[] = [];
  call.on("data", (chunk: Buffer) => chunks.push(chunk));
  const trailers = once(call, "trailers");
  call.end(body);
  const [{ "grpc-status": status }] = await trailers;
  session.close();
  if (status !== "0") {
    throw new Error(`gRPC answered with status ${status}`);
  }
  return Buffer.concat(chunks);
}

async function startLeast(name: string, answer: string): Promise<Measured> {
  const child = spawn(process.execPath, [fileURLToPath(import.meta.url), name, answer], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = once(child, "exit");
  // A run that fails leaves nothing behind.
  process.on("exit", () => child.kill("SIGTERM"));
  const [line] = await once(child.stdout, "data");
  return {
    pid: child.pid ?? 0,
    port: Number(line),
    async stop() {
      child.kill("SIGKILL");
      await exited;
    },
  };
}

async function load({ server, path, type, body, connections, http1 }: Row, count: number): Promise<void> {
  const { stdout } = await promisify(execFile)("h2load", [
    ...(http1 ? ["--h1"] : ["-m", String(callsAtOnce / connections)]),
    ...["-n", String(count), "-c", String(connections), "-d", body],
    ...["-H", `content-type: ${type}`, "-H", "te: trailers"],
    `http://127.0.0.1:${server.port}${path}`,
  ]);
  if (!stdout.includes(` ${count} succeeded, 0 failed`)) {
    throw new Error(stdout);
  }
}

function median(values: readonly number[]): number {
  return quantile(
    values.toSorted((a, b) => a - b),
    0.5,
  );
}
