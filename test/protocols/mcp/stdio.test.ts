import { once } from "node:events";
import { createInterface } from "node:readline";
import { PassThrough } from "node:stream";
import { describe, expect, test } from "vitest";
import type { Caller } from "../../../src/protocols/mcp/caller.ts";
import { openStdio } from "../../../src/protocols/mcp/stdio.ts";
import { collectedHeapBytes } from "../../support/heap.ts";

/** Starts an MCP server on an input and an output stream that the test controls. */
function open() {
  const input = new PassThrough();
  const output = new PassThrough();
  const errors: string[] = [];
  const connection = openStdio({
    input,
    output,
    peer: {
      left: new AbortController().signal,
      hold: () => new DisposableStack(),
      callerFor: () => ({}) as Caller,
      refused: async () => {},
    },
    version: "1",
    onError: ({ message }) => void errors.push(message),
  });
  const lines = createInterface(output)[Symbol.asyncIterator]();
  const answer = async () => JSON.parse((await lines.next()).value ?? "");
  return { input, output, errors, connection, answer };
}

async function collectedBytes(): Promise<number> {
  return (await collectedHeapBytes()) + process.memoryUsage().arrayBuffers;
}

const ping = (id: unknown) => `${JSON.stringify({ jsonrpc: "2.0", id, method: "ping" })}\n`;

test("MCP messages on standard input are read correctly if they arrive in pieces", async () => {
  const { input, connection, answer } = open();
  const bytes = Buffer.from(`\n${ping("ä")}`);
  for (const byte of bytes) {
    input.write(Buffer.of(byte));
  }
  expect(await answer()).toEqual({ jsonrpc: "2.0", id: "ä", result: {} });
  input.write(ping(2) + ping(3));
  expect([(await answer()).id, (await answer()).id]).toEqual([2, 3]);
  await connection.close();
});

test.each([
  ["no JSON", -32700, "A line is not JSON"],
  ['{"jsonrpc":"2.0",', -32700, "A line is not JSON"],
  ['[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600, "Only the version 2025-03-26 has batches"],
  ['{"jsonrpc":"2.0","id":1}', -32600, "A line is no message of JSON-RPC"],
  ['{"id":1,"method":"ping"}', -32600, "A line is no message of JSON-RPC"],
  ["null", -32600, "A line is no message of JSON-RPC"],
  [ping("x".repeat(257)).trim(), -32600, "at most 256 characters, not 257"],
  ['{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}', -32600, "2^53 - 1, because JSON parsers round"],
  [
    JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name: "play_moves", arguments: {}, _meta: { progressToken: "x".repeat(257) } },
    }),
    -32602,
    "at most 256 characters, not 257",
  ],
  ['{"jsonrpc":"2.0","id":8,"method":"ping","params":5}', -32600, "A line is no message of JSON-RPC", 8],
  [
    '{"jsonrpc":"2.0","id":"a","method":"ping","params":"x"}',
    -32600,
    "A line is no message of JSON-RPC",
    "a",
  ],
  ['{"jsonrpc":"2.0","id":{},"method":"ping"}', -32600, "A line is no message of JSON-RPC", null],
] as const)(
  "the invalid MCP message %s on standard input gets an error, and the next message is answered",
  async (line, code, text, id?: unknown) => {
    const { input, errors, connection, answer } = open();
    input.write(`${line}\n${ping(7)}`);
    const refused = await answer();
    expect(refused).toMatchObject({ error: { code, message: expect.stringContaining(text) } });
    expect(refused.id).toBe(id === undefined ? refused.id : id);
    expect(await answer()).toEqual({ jsonrpc: "2.0", id: 7, result: {} });
    expect(errors).toEqual([expect.stringContaining(text)]);
    await connection.close();
  },
);

test.each([
  ["ping", null],
  ["tools/list", null],
  ["tools/list", { cursor: null, _meta: null }],
])(
  "an MCP message on standard input may have null in place of absent parameters: %s %j",
  async (method, params) => {
    const { input, errors, connection, answer } = open();
    input.write(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method, params })}\n`);
    expect(await answer()).toMatchObject({ id: 1, result: {} });
    expect(errors).toEqual([]);
    await connection.close();
  },
);

test("an MCP message on standard input of exactly the maximum length is answered", async () => {
  const { input, connection, answer } = open();
  input.write(
    `${ping("x".repeat(256))
      .trim()
      .padEnd(512 * 1024)}\n`,
  );
  expect(await answer()).toMatchObject({ id: "x".repeat(256), result: {} });
  await connection.close();
});

test("an MCP message on standard input that is too long is refused once, and the next message is answered", async () => {
  const { input, errors, connection, answer } = open();
  const chunk = Buffer.alloc(64 * 1024, "x");
  const before = await collectedBytes();
  for (let sent = 0; sent < 64 * 1024 * 1024; sent += chunk.length) {
    input.write(Buffer.from(chunk)) || (await once(input, "drain"));
  }
  expect((await collectedBytes()) - before).toBeLessThan(8 * 1024 * 1024);
  input.write(`\n${ping(1)}`);
  expect(await answer()).toMatchObject({
    id: null,
    error: { code: -32600, message: expect.stringContaining("524288 bytes") },
  });
  expect(await answer()).toMatchObject({ id: 1, result: {} });
  expect(errors).toHaveLength(1);
  await connection.close();
});

test("MCP over standard input and output ends if its output fails", async () => {
  const { input, output, errors, connection } = open();
  output.destroy(new Error("no room"));
  await connection.failed;
  expect(errors).toEqual(["no room"]);
  expect(input.isPaused()).toBe(true);
});

test("a last MCP message without a line feed is answered, and the connection is then finished", async () => {
  const { input, connection, answer } = open();
  input.end(ping(1).trim());
  expect(await answer()).toEqual({ jsonrpc: "2.0", id: 1, result: {} });
  await connection.finished;
  await connection.close();
});

test("an MCP connection whose input ends without a request is finished", async () => {
  const { input, connection } = open();
  input.end(`${JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" })}\n`);
  await connection.finished;
  await connection.close();
});

test.each([
  ["an overlong slash", Buffer.of(0xc0, 0xaf)],
  ["half of a surrogate pair", Buffer.of(0xed, 0xa0, 0x80)],
  ["Latin-1", Buffer.of(0xe9)],
])("an MCP message on standard input that is not UTF-8 is refused: %s", async (_, bytes) => {
  const { input, connection, answer } = open();
  input.write(
    Buffer.concat([Buffer.from('{"jsonrpc":"2.0","id":"'), bytes, Buffer.from('","method":"ping"}\n')]),
  );
  expect(await answer()).toMatchObject({
    id: null,
    error: { code: -32700, message: "A line is not valid UTF-8." },
  });
  await connection.close();
});

test("half of a surrogate pair in an MCP message on standard input becomes U+FFFD", async () => {
  const { input, connection, answer } = open();
  input.write('{"jsonrpc":"2.0","id":"\\ud800","method":"ping"}\n');
  expect(await answer()).toEqual({ jsonrpc: "2.0", id: "\ufffd", result: {} });
  await connection.close();
});

describe("a batch on standard input", () => {
  async function agreed(protocolVersion: string) {
    const opened = open();
    const params = { protocolVersion, capabilities: {}, clientInfo: { name: "test", version: "1" } };
    opened.input.write(`${JSON.stringify({ jsonrpc: "2.0", id: 0, method: "initialize", params })}\n`);
    expect(await opened.answer()).toMatchObject({ result: { protocolVersion } });
    opened.input.write(`${JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" })}\n`);
    return opened;
  }
  const batchOf = (...messages: readonly object[]) => `${JSON.stringify(messages)}\n`;
  const message = (id: unknown, method = "ping") => ({ jsonrpc: "2.0", id, method });

  test("a batch of MCP 2025-03-26 on standard input gets one array of answers", async () => {
    const { input, connection, answer } = await agreed("2025-03-26");
    const notification = { jsonrpc: "2.0", method: "notifications/roots/list_changed" };
    input.write(batchOf(message(1), notification, { jsonrpc: "2.0", id: 3 }, message(2, "nothing")));
    const answers = await answer();
    expect(answers).toHaveLength(3);
    expect(answers).toEqual(
      expect.arrayContaining([
        { jsonrpc: "2.0", id: 1, result: {} },
        expect.objectContaining({ id: 2, error: expect.objectContaining({ code: -32601 }) }),
        expect.objectContaining({ id: 3, error: expect.objectContaining({ code: -32600 }) }),
      ]),
    );
    input.write(batchOf(notification) + ping(4));
    expect(await answer()).toMatchObject({ id: 4 });
    // This method exists only in a later version, which has no batches.
    input.write(batchOf(message(5, "subscriptions/listen")));
    expect(await answer()).toMatchObject([{ id: 5, error: { code: -32601 } }]);
    input.end(batchOf(message(6)).trim());
    expect(await answer()).toMatchObject([{ id: 6 }]);
    await connection.finished;
    await connection.close();
  });

  test.each([
    ["no message", [], "1 to 20 messages, not 0"],
    ["21 messages", Array.from({ length: 21 }, (_, id) => message(id)), "1 to 20 messages, not 21"],
    ["initialize", [message(1, "initialize")], "must not contain initialize"],
  ])("a batch of MCP 2025-03-26 on standard input with %s is refused", async (_, messages, text) => {
    const { input, connection, answer } = await agreed("2025-03-26");
    input.write(batchOf(...messages));
    expect(await answer()).toMatchObject({
      id: null,
      error: { code: -32600, message: expect.stringContaining(text) },
    });
    await connection.close();
  });

  test("the other answers of a batch are sent if one of its requests is cancelled", async () => {
    const { input, connection, answer } = await agreed("2025-03-26");
    const params = { name: "analyze_position", arguments: { depth: 30 } };
    const cancel = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } };
    input.write(batchOf({ ...message(1, "tools/call"), params }, message(2)));
    input.write(`${JSON.stringify(cancel)}\n`);
    expect(await answer()).toEqual([{ jsonrpc: "2.0", id: 2, result: {} }]);
    input.end(batchOf({ ...message(1, "tools/call"), params }, cancel, message(3)));
    expect(await answer()).toEqual([{ jsonrpc: "2.0", id: 3, result: {} }]);
    await connection.finished;
    await connection.close();
  });

  test("a batch of a later version of MCP on standard input is refused", async () => {
    const { input, connection, answer } = await agreed("2025-06-18");
    input.write(batchOf(message(1)) + ping(2));
    expect(await answer()).toMatchObject({ id: null, error: { code: -32600 } });
    expect(await answer()).toMatchObject({ id: 2, result: {} });
    await connection.close();
  });
});
