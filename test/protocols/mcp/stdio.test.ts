import { once } from "node:events";
import { createInterface } from "node:readline";
import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
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
  ['[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600, "A line is no message of JSON-RPC"],
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
