import { once } from "node:events";
import { connect as connectHttp2 } from "node:http2";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { expect } from "vitest";
import { envelope } from "../support/envelope.ts";
import { patienceMs } from "../support/patience.ts";
import { rawRequest } from "../support/raw-http.ts";
import { ask } from "./ask.ts";
import { rpcOf } from "./calls.ts";
import { type StartedService, startFen } from "./started-service.ts";

type Headers = Readonly<Record<string, string>>;

export interface Attack {
  readonly name: string;
  /** @param address the loopback address from which the attack is sent. Each attack uses a different address. */
  readonly send: (service: StartedService, address: string) => Promise<unknown>;
  /**
   * The limit that stops the attack in `public` mode.
   * - `plan`: the limit on concurrent calls. The attack is tested after every change.
   * - `connections`: the limit on connections. The attack is tested every night, and only in `public` mode.
   */
  readonly boundBy?: "plan" | "connections";
}

const json: Headers = { "content-type": "application/json" };
const gzipped: Headers = { ...json, "content-encoding": "gzip" };
const mcp: Headers = { ...json, accept: "application/json, text/event-stream" };

const attackMaxMs = 1500;
/** After this time, a batch or review as JSON begins its answer with 200. If it then fails, the answer is cut off (docs/api.md). */
const heartbeatMs = 10_000;

function times<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index));
}

/**
 * Sends a request over many connections at the same time. Disconnects if a response takes longer than {@link attackMaxMs}.
 */
function post(count: number, path: string, headers: Headers, body: string | Uint8Array): Attack["send"] {
  return ({ url }, localAddress) => {
    const signal = AbortSignal.timeout(attackMaxMs);
    const one = () => ask(url + path, { method: "POST", headers, body, localAddress, signal });
    return Promise.allSettled(times(count, one));
  };
}

/** Sends a request over many connections at the same time. Fails if the service accepts any of the requests. */
function refusedPosts(
  count: number,
  path: string,
  headers: Headers,
  body: string | Uint8Array,
): Attack["send"] {
  return async ({ url }, localAddress) => {
    const signal = AbortSignal.timeout(patienceMs);
    const beganAt = performance.now();
    const one = () =>
      ask(url + path, { method: "POST", headers, body, localAddress, signal }).catch((error: Error) => {
        if (error.message === "aborted" && performance.now() - beganAt > heartbeatMs) {
          return undefined;
        }
        throw error;
      });
    const answers = await Promise.all(times(count, one));
    for (const answer of answers.filter((answer) => answer !== undefined)) {
      // A refusal by MCP or by a stream of Connect has the status 200 and an error in the body. gRPC-Web has an error in the
      // trailers.
      const isRefused =
        answer.status >= 400 ||
        /"isError":true|"error":\{|grpc-(status|message)/.test(JSON.stringify(answer.headers) + answer.body);
      expect(isRefused, `${answer.status} ${answer.body.slice(0, 300)}`).toBe(true);
    }
  };
}

/**
 * Sends the same request repeatedly over many connections for one second. Each connection waits for the response before it
 * sends the request again.
 */
function flood(bytes: string, connections = bytes.length > 20_000 ? 100 : 200): Attack["send"] {
  return async ({ port }, localAddress) => {
    const signal = AbortSignal.timeout(1000);
    const one = async () => {
      while (!signal.aborted) {
        const socket = connect({ port, host: "127.0.0.1", localAddress, signal });
        socket.on("error", () => {});
        const send = () => socket.writable && socket.write(bytes, "latin1");
        // Each response arrives in one chunk.
        socket.on("connect", send).on("data", send);
        await once(socket, "close").catch(() => {});
      }
    };
    await Promise.all(times(connections, one));
  };
}

/** Sends the request once, and fails if the response does not match `reason`. Then floods the service like {@link flood}. */
function refusedFlood(bytes: string, reason = /^HTTP\/1\.1 4/): Attack["send"] {
  return async (service, localAddress) => {
    const socket = connect({ port: service.port, host: "127.0.0.1", localAddress });
    socket.end(bytes, "latin1");
    expect(await text(socket)).toMatch(reason);
    await flood(bytes)(service, localAddress);
  };
}

function burst(bytes: string): Attack["send"] {
  return async ({ port }, localAddress) => {
    const sockets = await Promise.all(
      times(250, async () => {
        const socket = connect({ port, host: "127.0.0.1", localAddress });
        socket.on("error", () => {}).resume();
        await Promise.race([once(socket, "connect"), once(socket, "close")]);
        return socket;
      }),
    );
    const requests = Buffer.from(bytes.repeat(99), "latin1");
    for (const socket of sockets) {
      socket.write(requests);
    }
    await sleep(1000);
    for (const socket of sockets) {
      socket.destroy();
    }
  };
}

async function burstOfStreams({ url }: StartedService, localAddress: string): Promise<void> {
  const sessions = times(250, () => connectHttp2(url, { localAddress } as object).on("error", () => {}));
  await Promise.all(sessions.map((session) => Promise.race([once(session, "connect"), sleep(2000)])));
  for (const session of sessions) {
    for (let stream = 0; stream < 100 && !session.closed && !session.destroyed; stream++) {
      session
        .request({ ":path": "/engines" })
        .on("error", () => {})
        .resume()
        .end();
    }
  }
  await sleep(1000);
  for (const session of sessions) {
    session.destroy();
  }
}

function tool(name: string, args: object, meta?: object): string {
  const params = { name, arguments: args, ...(meta && { _meta: meta }) };
  return JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
}

const shuffle = "Nf3 Nf6 Ng1 Ng8 ".repeat(16_000);
const longestGame = times(150, () => ["Nf3", "Nf6", "Ng1", "Ng8"]).flat();
const bushy = `1. e4 ${"(d4!{a})".repeat(29_000)} e5 *`;
/** A batch with two slow searches and 58 invalid items. 1 kB of gzip contains 300 kB of JSON. */
const waitingBatch = gzipSync(
  JSON.stringify({
    requests: times(60, (index) =>
      index < 2
        ? { fen: `${startFen.slice(0, -1)}${index + 1}`, depth: 20, multipv: 5 }
        : { fen: startFen, moves: times(1650, () => ({})) },
    ),
  }),
);
const emptyItems = `{"requests":[${"{},".repeat(87_000)}{}]}`;
/** Returns the valid batch that Connect decodes most slowly: 256 KiB of protobuf with nested `Struct` options. */
const longestBatch = () => {
  const field = (number: number, bytes: Uint8Array) => {
    const [low, high] = [(bytes.length & 0x7f) | 0x80, bytes.length >> 7];
    const length = bytes.length < 0x80 ? [bytes.length] : [low, high];
    return Buffer.concat([Uint8Array.of((number << 3) | 2, ...length), bytes]);
  };
  const options = times(160, (index) => field(1, field(1, Buffer.from(index.toString(36).padStart(4, "0")))));
  return Buffer.concat(times(200, () => field(1, field(8, Buffer.concat(options)))));
};

const longHost = `Host: ${"%E4%B8%AD".repeat(1700)}`;
const longOrigin = `Origin: http://${"%E4%B8%AD".repeat(1700)}`;
const objects = (count: number) => `[${times(count, () => "{}")}]`;
const createKey = rpcOf("CreateKey", "KeyService");
const rawPost = (path: string, body: string, headers: readonly string[] = []) =>
  rawRequest(
    `POST ${path}`,
    ["Content-Type: application/json", `Content-Length: ${body.length}`, ...headers],
    body,
  );
const listTools = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" });
const rawListTools = rawPost("/mcp", listTools, ["Accept: application/json, text/event-stream"]);
const matedEval = JSON.stringify({ fen: startFen, depth: 1 });

/** Each kind of attack is tested with a new service. The heap of a service stays large for some time after an attack. */
export const attacks: Readonly<Record<string, readonly Attack[]>> = {
  "long games": [
    {
      name: "20 MCP calls with a game of 64,000 plies",
      send: refusedPosts(20, "/mcp", mcp, tool("analyze_position", { pgn: shuffle, ply: 0 })),
    },
    {
      name: "20 MCP calls with a gzipped game of 64,000 plies",
      send: refusedPosts(
        20,
        "/mcp",
        { ...mcp, "content-encoding": "gzip" },
        gzipSync(tool("analyze_position", { pgn: shuffle, ply: 0 })),
      ),
    },
    {
      name: "20 MCP reviews of 64,000 plies, with progress",
      send: refusedPosts(20, "/mcp", mcp, tool("review_game", { pgn: shuffle }, { progressToken: 1 })),
    },
    {
      name: "20 reviews of 64,000 plies",
      send: refusedPosts(20, "/v1/review", json, JSON.stringify({ pgn: shuffle })),
    },
    {
      name: "20 reviews of 64,000 plies over Connect",
      send: refusedPosts(
        20,
        rpcOf("ReviewGame", "GameService"),
        { "content-type": "application/connect+json" },
        envelope(Buffer.from(JSON.stringify({ pgn: shuffle }))),
      ),
    },
    {
      name: "60 gzipped reviews of a game with 29,000 variations",
      send: refusedPosts(60, "/v1/review", gzipped, gzipSync(JSON.stringify({ pgn: bushy }))),
    },
    {
      name: "60 MCP reviews of a gzipped game with 29,000 variations",
      send: refusedPosts(
        60,
        "/mcp",
        { ...mcp, "content-encoding": "gzip" },
        gzipSync(tool("review_game", { pgn: bushy })),
      ),
    },
    {
      name: "100 reviews of 600 plies",
      boundBy: "plan",
      send: post(100, "/v1/review", json, JSON.stringify({ moves: longestGame, depth: 30 })),
    },
    {
      name: "100 MCP reviews of 600 plies",
      boundBy: "plan",
      send: post(100, "/mcp", mcp, tool("review_game", { pgn: longestGame.join(" ") })),
    },
  ],
  batches: [
    { name: "80 waiting batches", boundBy: "plan", send: post(80, "/v1/eval/batch", gzipped, waitingBatch) },
    {
      name: "80 waiting batches, a line per answer",
      send: post(80, "/v1/eval/batch", { ...gzipped, accept: "application/x-ndjson" }, waitingBatch),
    },
    {
      name: "20 batches of 87,000 empty items",
      send: refusedPosts(20, "/v1/eval/batch", gzipped, gzipSync(emptyItems)),
    },
    {
      name: "20 batches of 87,000 empty items over Connect",
      send: refusedPosts(
        20,
        rpcOf("EvaluateBatch"),
        { "content-type": "application/connect+json" },
        envelope(Buffer.from(emptyItems)),
      ),
    },
    {
      name: "20 batches of 131,072 empty items over Connect in binary",
      send: refusedPosts(
        20,
        rpcOf("EvaluateBatch"),
        { "content-type": "application/connect+proto" },
        envelope(Buffer.alloc(256 * 1024, Uint8Array.of(10, 0))),
      ),
    },
    {
      name: "20 of the longest batches that are decoded over Connect",
      send: post(
        20,
        rpcOf("EvaluateBatch"),
        { "content-type": "application/connect+proto" },
        envelope(longestBatch()),
      ),
    },
  ],
  "many requests": [
    { name: "25,000 pipelined GET /engines", send: burst(rawRequest("GET /engines")) },
    { name: "25,000 pipelined tools/list", send: burst(rawListTools) },
    {
      name: "25,000 pipelined requests with a wrong key",
      send: burst(rawRequest("GET /engines", ["Authorization: Bearer kbz_wrong"])),
    },
    { name: "25,000 pipelined known positions", send: burst(rawPost("/v1/eval", matedEval)) },
    { name: "25,000 streams over HTTP/2", send: burstOfStreams, boundBy: "connections" },
    {
      name: "Host of 15 kB",
      send: refusedFlood(rawRequest("GET /engines", [longHost]).replace("Host: x\r\n", "")),
    },
    {
      name: "Host of 15 kB on an RPC",
      send: refusedFlood(rawPost(rpcOf("GetPrice"), "{}", [longHost]).replace("Host: x\r\n", "")),
    },
    {
      name: "Origin of 15 kB at the MCP endpoint",
      send: refusedFlood(rawPost("/mcp", listTools, [longOrigin]), /at most \d+ are read/),
    },
    {
      name: "CreateKey with 20,000 objects",
      send: refusedFlood(rawPost(createKey, `{"name":${objects(20_000)}}`)),
    },
    {
      name: "a request for a key with 20,000 objects",
      send: refusedFlood(rawPost("/v1/keys", `{"name":${objects(20_000)}}`)),
    },
    {
      name: "a Connect GET with 7,700 parameters",
      send: refusedFlood(rawRequest(`GET ${rpcOf("GetPrice")}?${"a&".repeat(7700)}`), /at most \d+ are read/),
    },
    {
      name: "GET /price with 2,200 parameters",
      send: refusedFlood(
        rawRequest(`GET /price?${times(2200, (index) => `k${index}`).join("&")}`),
        /at most \d+ are read/,
      ),
    },
    { name: "tools/list without end", send: flood(rawListTools) },
    { name: "GET /engines without end", send: flood(rawRequest("GET /engines")) },
    {
      name: "a progress token of 500 kB",
      send: post(
        20,
        "/mcp",
        { ...mcp, "content-encoding": "gzip" },
        gzipSync(
          tool(
            "review_game",
            { pgn: "1. e4 e5 2. Nf3 Nc6", depth: 4 },
            { progressToken: "x".repeat(500_000) },
          ),
        ),
      ),
    },
    {
      name: "140 searches a second that nobody waits for",
      async send({ url }, localAddress) {
        const end = performance.now() + 1500;
        let count = 0;
        const one = async () => {
          while (performance.now() < end) {
            count++;
            const signal = AbortSignal.timeout(4 + (count % 30));
            const body = JSON.stringify({ fen: `${startFen.slice(0, -1)}${count}`, depth: 25 });
            await ask(`${url}/v1/eval`, { method: "POST", headers: json, body, localAddress, signal }).catch(
              () => {},
            );
            await sleep(120);
          }
        };
        await Promise.all(times(20, one));
      },
    },
  ],
};
