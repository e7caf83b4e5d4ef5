import { expect, test } from "vitest";
import { envelope, rpcOf } from "../../abuse/calls.ts";
import { newMessage, send } from "../../protocols/mcp/messages.ts";
import { createEnginesInProcess } from "../../support/engines-in-process.ts";
import { useApp } from "../../support/running-app.ts";
import { rpcDoors } from "./all-doors.ts";
import { json } from "./clients/json.ts";

const app = useApp({}, { engines: createEnginesInProcess() });

const pgnMaxBytes = 256 * 1024;
const shuffle = "Nf3 Nf6 Ng1 Ng8 ".repeat(pgnMaxBytes / 16);
/** Nearly 256 KiB as JSON, which is the most that a batch may have over RPC. */
const emptyItems = Array.from({ length: 87_000 }, () => ({}));
/** A comment that JSON writes with an escape in each line. */
const head = "1. f3 e5 2. g4 {";
const longest = `${`${head}${'all of this is "said"\n'.repeat(12_000)}`.slice(0, pgnMaxBytes - 10)}} Qh4# 0-1`;

test.each([json, ...rpcDoors])(
  "a game of 256 KiB that repeats four moves is refused through $name for its plies",
  async (kind) => {
    await using door = kind.open(app.url);
    expect(await door.call("reviewGame", { pgn: shuffle })).toMatchObject({
      refusal: { code: "out_of_range", message: expect.stringContaining("600") },
    });
  },
);

test.each([json, ...rpcDoors])(
  "256 KiB of empty requests in a batch are refused through $name",
  async (kind) => {
    await using door = kind.open(app.url);
    expect(await door.call("evaluateBatch", { requests: emptyItems })).toMatchObject({
      refusal: { code: "out_of_range", faults: [{ pointer: "/requests" }] },
    });
  },
);

test.each([json, ...rpcDoors])("a PGN of exactly 256 KiB is reviewed through $name", async (kind) => {
  expect(Buffer.byteLength(longest)).toBe(pgnMaxBytes);
  await using door = kind.open(app.url);
  expect(await door.call("reviewGame", { pgn: longest, depth: 1 })).toMatchObject({ kind: "answer" });
});

const brackets = "[".repeat(20_000);
const post = (path: string, type: string, body: string | Uint8Array, accept = "*/*") =>
  fetch(app.url + path, {
    method: "POST",
    headers: { "Content-Type": type, Accept: accept },
    body: Buffer.from(body),
  });

test.each([
  ["plain JSON", "/v1/eval", "application/json", brackets, "*/*"],
  ["plain JSON as events", "/v1/eval/stream", "application/json", brackets, "text/event-stream"],
  ["a batch as lines", "/v1/eval/batch", "application/json", brackets, "application/x-ndjson"],
  ["a review of plain JSON", "/v1/review", "application/json", brackets, "*/*"],
  ["Connect", rpcOf("Evaluate"), "application/json", brackets, "*/*"],
  [
    "a batch of Connect",
    rpcOf("EvaluateBatch"),
    "application/connect+json",
    envelope(Buffer.from(brackets)),
    "*/*",
  ],
  ["gRPC-Web", rpcOf("Evaluate"), "application/grpc-web+json", envelope(Buffer.from(brackets)), "*/*"],
])("20,000 open brackets through %s are refused as malformed JSON", async (_, path, type, body, accept) => {
  const answer = await post(path, type, body, accept);
  const text = (await answer.text()) + decodeURIComponent(answer.headers.get("grpc-message") ?? "");
  expect(text).toMatch(/nested more than 32 levels deep/);
});

test.each(["]".repeat(20_000), brackets])("unbalanced brackets through MCP are refused", async (body) => {
  const { headers } = newMessage("ping");
  const answer = await fetch(`${app.url}/mcp`, { method: "POST", headers, body });
  expect([answer.status, await answer.json()]).toMatchObject([400, { error: { code: -32700 } }]);
});

test("a game of 256 KiB that repeats four moves is refused through MCP for its plies", async () => {
  const { body } = await send(
    app.url,
    newMessage("tools/call", { name: "review_game", arguments: { pgn: shuffle } }),
  );
  expect(body.result).toMatchObject({ isError: true });
  expect(JSON.stringify(body.result)).toContain("600");
});

test.each([
  ["Connect", "application/proto", (bytes: Buffer) => bytes],
  ["gRPC-Web", "application/grpc-web", envelope],
  ["Connect as a stream", "application/connect+proto", envelope],
])(
  "20 requests over %s whose options are repeated 16,000 times are refused in no time",
  async (_, type, frame) => {
    // One took 10 s of the thread.
    const entries = Array.from({ length: 5000 }, (_, index) => [
      10,
      4,
      10,
      2,
      33 + (index % 90),
      33 + Math.floor(index / 90),
    ]);
    const options = Buffer.from(entries.flat());
    const head = Buffer.from([
      0x42,
      (options.length & 127) | 128,
      ((options.length >> 7) & 127) | 128,
      options.length >> 14,
    ]);
    const message = Buffer.concat([head, options, Buffer.from(Array(16_000).fill([0x42, 0]).flat())]);
    const path = rpcOf(type.includes("connect") ? "StreamEvaluate" : "Evaluate");
    const answers = await Promise.all(Array.from({ length: 20 }, () => post(path, type, frame(message))));
    for (const answer of answers) {
      const text = `${await answer.text()} ${answer.headers.get("grpc-message")}`;
      expect(text).toContain("field options is repeated");
    }
  },
);
