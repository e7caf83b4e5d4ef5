import { rpcOf } from "../../abuse/calls.ts";
import { envelope, envelopesIn } from "../../support/envelope.ts";
import type { Reply, Sent } from "./reply.ts";

/** A request, and what its answer says in its protocol. */
export interface Exchange {
  readonly name: string;
  readonly sent: Sent;
  /** Returns the answer, without what differs between two equal requests. Throws if the reply is neither an answer nor an error. */
  readonly read: (reply: Reply) => Read;
}

/** `answer`: the items are compared one by one, because an error may take the place of an item. */
export type Read =
  | { readonly kind: "answer"; readonly items: readonly unknown[] }
  | { readonly kind: "error"; readonly code: string }
  /** The client sees that the answer is cut off. */
  | { readonly kind: "cut" };

/** Stands for an item of a batch that has an error in its place. */
export const failedItem = { failed: true };

const volatile =
  /^(id|time_ms|timeMs|nps|queue_ms|queueMs|request_id|requestId|key|key_id|created_at|createdAt|expires_at|expiresAt|server_time|hashfull|remaining|reset_ms|resets_in_ms|last_used_at|used)$/;

/** Removes the values that differ between two equal requests. */
function repeatable(json: unknown): unknown {
  return JSON.parse(
    JSON.stringify(json, (name, value) => (volatile.test(name) ? undefined : value)) ?? "null",
  );
}

const answer = (...items: readonly unknown[]): Read => ({ kind: "answer", items: items.map(repeatable) });

function wrong(reply: Reply, why: string): never {
  const { status, headers, body } = reply;
  throw new Error(`${why}: ${status} ${JSON.stringify(headers)} ${body.toString("latin1").slice(0, 600)}`);
}

function codeOfProblem(reply: Reply, problem: unknown): string {
  const { status, code } = Object(problem) as { status?: number; code?: string };
  return (status === 500 || status === 503) && typeof code === "string"
    ? code
    : wrong(reply, "not a problem of the service");
}

/** Reads a complete answer with status 200 by `readBody`, and any other one as a problem document. */
function readJson(readBody: (text: string, reply: Reply) => Read): Exchange["read"] {
  return (reply) => {
    const { status, headers, body, isComplete } = reply;
    if (!isComplete || status === undefined) {
      return { kind: "cut" };
    }
    if (status === 200) {
      return readBody(body.toString(), reply);
    }
    const problem = JSON.parse(body.toString());
    if (headers["content-type"] !== "application/problem+json" || problem.status !== status) {
      wrong(reply, "not a problem document");
    }
    return { kind: "error", code: codeOfProblem(reply, problem) };
  };
}

const plainJson = readJson((text) => answer(JSON.parse(text)));
const plainText = readJson((text) => answer(text));

const eventStream = readJson((text, reply) => {
  const events = text
    .split("\n\n")
    .filter((event) => event.startsWith("event: "))
    .map((event) => /^event: (\S+)\ndata: (.*)$/s.exec(event) ?? wrong(reply, "not an event"));
  const [, name, data = ""] = events.at(-1) ?? wrong(reply, "a stream without events");
  if (name === "error") {
    return { kind: "error", code: codeOfProblem(reply, JSON.parse(data)) };
  }
  return name === "done" ? answer(JSON.parse(data)) : wrong(reply, "a stream without its end");
});

interface Item {
  readonly index: number;
  readonly problem?: unknown;
}

function itemsOf(reply: Reply, items: readonly Item[]): Read {
  const inOrder = items.toSorted((a, b) => a.index - b.index);
  const failed = inOrder.map(({ problem }) => problem != null && codeOfProblem(reply, problem) !== "");
  const read = answer(...inOrder);
  return read.kind === "answer"
    ? { kind: "answer", items: read.items.map((item, index) => (failed[index] ? failedItem : item)) }
    : read;
}

const batch = readJson((text, reply) => itemsOf(reply, JSON.parse(text)));
const batchLines = readJson((text, reply) =>
  itemsOf(
    reply,
    text
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line)),
  ),
);

const reviewLines = readJson((text, reply) => {
  const last = JSON.parse(text.trimEnd().split("\n").at(-1) ?? "null");
  if (last?.problem !== undefined) {
    return { kind: "error", code: codeOfProblem(reply, last.problem) };
  }
  return last?.review ? answer(last) : wrong(reply, "lines without the review");
});

/** The codes of Connect for 500 and 503. */
const connectCodes = ["internal", "unavailable"];
const grpcCodes = ["13", "14"];

function connectError(reply: Reply, code: unknown): Read {
  return connectCodes.includes(String(code))
    ? { kind: "error", code: String(code) }
    : wrong(reply, "not an error of the service");
}

const connectUnary: Exchange["read"] = (reply) => {
  const { status, body, isComplete } = reply;
  if (!isComplete || status === undefined) {
    return { kind: "cut" };
  }
  const json = JSON.parse(body.toString());
  return status === 200 ? answer(json) : connectError(reply, json.code);
};

/** Splits the body of a stream into the flags and the text of each message. */
function framesOf({ body }: Reply): readonly (readonly [flags: number, text: string])[] {
  return envelopesIn(body).map(({ flags, bytes }) => [flags, bytes.toString()]);
}

type ReadFrames = (reply: Reply, frames: readonly (readonly [number, string])[]) => Read;

function connectStream(readFrames: ReadFrames): Exchange["read"] {
  return (reply) => {
    const { status, isComplete } = reply;
    if (!isComplete || status === undefined) {
      return { kind: "cut" };
    }
    if (status !== 200) {
      return connectUnary(reply);
    }
    const frames = framesOf(reply);
    const [flags, end = ""] = frames.at(-1) ?? wrong(reply, "a stream without its end");
    if (flags !== 2) {
      wrong(reply, "a stream without its end");
    }
    const { error } = JSON.parse(end);
    return error ? connectError(reply, error.code) : readFrames(reply, frames.slice(0, -1));
  };
}

/** The answers of a batch may come in any order. The JSON of protobuf leaves out the index 0. */
function rpcItemsOf(reply: Reply, frames: readonly (readonly [number, string])[]): Read {
  return itemsOf(
    reply,
    frames.map(([, text]) => ({ index: 0, ...JSON.parse(text) })),
  );
}

/** The last message of a stream is its answer: a slow client may miss earlier states. */
const lastOf: ReadFrames = (reply, frames) => {
  const [, text] = frames.at(-1) ?? wrong(reply, "a stream without messages");
  return answer(JSON.parse(text));
};

const grpc: Exchange["read"] = (reply) => {
  const { status, headers, isComplete } = reply;
  if (!isComplete || status === undefined) {
    return { kind: "cut" };
  }
  const code = headers["grpc-status"] ?? wrong(reply, "no grpc-status");
  if (code !== "0") {
    return grpcCodes.includes(code) ? { kind: "error", code } : wrong(reply, "not an error of the service");
  }
  return lastOf(reply, framesOf(reply));
};

const grpcWeb: Exchange["read"] = (reply) => {
  const { status, headers, isComplete } = reply;
  if (!isComplete || status === undefined) {
    return { kind: "cut" };
  }
  const frames = framesOf(reply);
  const trailers = frames.find(([flags]) => flags === 0x80)?.[1];
  const code = headers["grpc-status"] ?? /^grpc-status: ?(\d+)\r$/m.exec(trailers ?? "")?.[1];
  if (code !== "0") {
    return grpcCodes.includes(String(code))
      ? { kind: "error", code: String(code) }
      : wrong(reply, "not an error of the service");
  }
  return lastOf(
    reply,
    frames.filter(([flags]) => flags === 0),
  );
};

const mcp = readJson((text, reply) => {
  const { result, error } = JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? text);
  if (error) {
    return error.code === -32_603
      ? { kind: "error", code: "-32603" }
      : wrong(reply, "not an error of the service");
  }
  return result.isError
    ? { kind: "error", code: String(result._meta?.["kibitz/error"]?.code) }
    : answer(result);
});

/** The nodes of a search. The number is small, because each step runs a search. */
const nodes = 300;
const position = { fen: "startpos", nodes };
const review = { moves: ["e4", "e5"], nodes };
const twoItems = { requests: [position, { fen: "startpos", moves: ["d4"], nodes }] };

const json = { "content-type": "application/json" };
const post = (path: string, body: object, headers: Sent["headers"] = {}): Sent => ({
  path,
  headers: { ...json, ...headers },
  body: JSON.stringify(body),
});
const framed = (path: string, type: string, message: object, http2: boolean): Sent => ({
  path,
  headers: { "content-type": type, te: "trailers" },
  body: envelope(Buffer.from(JSON.stringify(message))),
  http2,
});
const tool = (method: string, params: object): Sent =>
  post("/mcp", { jsonrpc: "2.0", id: 1, method, params }, { accept: "application/json, text/event-stream" });
const overHttp2 = (exchange: Exchange): Exchange => ({
  ...exchange,
  name: `${exchange.name} over HTTP/2`,
  sent: { ...exchange.sent, http2: true },
});

export const jsonUnary: Exchange = { name: "JSON", sent: post("/v1/eval", position), read: plainJson };

const evaluate = rpcOf("Evaluate");
const streamed = rpcOf("StreamEvaluate");
const batched = rpcOf("EvaluateBatch");
const reviewed = rpcOf("ReviewGame", "GameService");
const rpcPosition = { fen: "startpos", nodes: String(nodes) };
const rpcReview = { moves: review.moves, nodes: String(nodes) };
const rpcItems = { requests: [rpcPosition, { ...rpcPosition, moves: ["d4"] }] };
const reflection = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";
const health = "/grpc.health.v1.Health/Check";

/** The other protocols and calls. */
export const otherExchanges: readonly Exchange[] = [
  overHttp2(jsonUnary),
  { name: "JSON, best move", sent: post("/v1/bestmove", position), read: plainJson },
  { name: "JSON stream", sent: post("/v1/eval/stream", position), read: eventStream },
  { name: "JSON batch", sent: post("/v1/eval/batch", twoItems), read: batch },
  {
    name: "JSON batch as lines",
    sent: post("/v1/eval/batch", twoItems, { accept: "application/x-ndjson" }),
    read: batchLines,
  },
  { name: "JSON review", sent: post("/v1/review", review), read: plainJson },
  {
    name: "JSON review as events",
    sent: post("/v1/review", review, { accept: "text/event-stream" }),
    read: eventStream,
  },
  {
    name: "JSON review as lines",
    sent: post("/v1/review", review, { accept: "application/x-ndjson" }),
    read: reviewLines,
  },
  { name: "engines", sent: { path: "/engines" }, read: plainJson },
  { name: "price", sent: { path: "/price?depth=10" }, read: plainJson },
  { name: "Connect", sent: post(evaluate, rpcPosition), read: connectUnary },
  overHttp2({ name: "Connect", sent: post(evaluate, rpcPosition), read: connectUnary }),
  {
    name: "Connect stream",
    sent: framed(streamed, "application/connect+json", rpcPosition, false),
    read: connectStream(lastOf),
  },
  {
    name: "Connect batch",
    sent: framed(batched, "application/connect+json", rpcItems, false),
    read: connectStream(rpcItemsOf),
  },
  { name: "gRPC", sent: framed(evaluate, "application/grpc+json", rpcPosition, true), read: grpc },
  { name: "gRPC stream", sent: framed(streamed, "application/grpc+json", rpcPosition, true), read: grpc },
  { name: "gRPC review", sent: framed(reviewed, "application/grpc+json", rpcReview, true), read: grpc },
  {
    name: "gRPC-Web",
    sent: framed(evaluate, "application/grpc-web+json", rpcPosition, false),
    read: grpcWeb,
  },
  {
    name: "gRPC-Web stream",
    sent: framed(streamed, "application/grpc-web+json", rpcPosition, false),
    read: grpcWeb,
  },
  { name: "MCP list", sent: tool("tools/list", {}), read: mcp },
  {
    name: "MCP analysis",
    sent: tool("tools/call", { name: "analyze_position", arguments: { fen: "startpos", depth: 2 } }),
    read: mcp,
  },
  {
    name: "MCP moves",
    sent: tool("tools/call", { name: "play_moves", arguments: { fen: "startpos", moves: ["e4"] } }),
    read: mcp,
  },
  {
    name: "MCP review",
    sent: tool("tools/call", { name: "review_game", arguments: { pgn: "1. e4 e5", depth: 2 } }),
    read: mcp,
  },
  { name: "health", sent: { path: "/healthz" }, read: plainText },
  { name: "readiness", sent: { path: "/readyz" }, read: plainText },
  { name: "gRPC health", sent: framed(health, "application/grpc+json", {}, true), read: grpc },
  {
    name: "reflection",
    sent: framed(reflection, "application/grpc+json", { listServices: "" }, true),
    read: grpc,
  },
  { name: "page", sent: { path: "/", headers: { accept: "text/html" } }, read: plainText },
  { name: "text", sent: { path: "/" }, read: plainText },
  { name: "documentation", sent: { path: "/docs", headers: { accept: "text/html" } }, read: plainText },
  { name: "document", sent: { path: "/openapi.json" }, read: plainText },
  { name: "text for models", sent: { path: "/llms.txt" }, read: plainText },
  { name: "page of an error", sent: { path: "/problems/internal" }, read: plainText },
  { name: "keys", sent: post("/v1/keys", { name: "a" }), read: plainJson },
];
