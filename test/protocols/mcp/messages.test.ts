import { describe, expect, test } from "vitest";
import { tools } from "../../../src/protocols/mcp/tools.ts";
import { http2Get } from "../../http/http2-get.ts";
import { createEnginesInProcess } from "../../support/engines-in-process.ts";
import { useApp } from "../../support/running-app.ts";
import { newMessage, oldMessage, send } from "./messages.ts";

const app = useApp({}, { engines: createEnginesInProcess() });

const play = { name: "play_moves", arguments: { moves: ["e4"] } };
const greeting = {
  protocolVersion: "2025-11-25",
  capabilities: {},
  clientInfo: { name: "test", version: "1" },
};
const versionKey = "io.modelcontextprotocol/protocolVersion";

describe("messages that contradict their headers", () => {
  test.each([
    ["no Mcp-Method", { "Mcp-Method": "" }],
    ["another Mcp-Method", { "Mcp-Method": "tools/list" }],
    ["another Mcp-Name", { "Mcp-Name": "review_game" }],
    ["an older protocol version", { "MCP-Protocol-Version": "2025-11-25" }],
  ])("an MCP message that contradicts its headers gets 400 with the reason: %s", async (_, headers) => {
    const { status, body } = await send(app.url, newMessage("tools/call", play, headers));
    expect([status, body.error]).toEqual([400, expect.objectContaining({ code: -32020 })]);
    expect(body.id).toBe(1);
  });

  test("a request for an unknown version of MCP gets the list of known versions", async () => {
    const message = newMessage("tools/list", {}, { "MCP-Protocol-Version": "2031-01-01" });
    const params = {
      _meta: { ...(message.body.params as { _meta: object })._meta, [versionKey]: "2031-01-01" },
    };
    const { status, body } = await send(app.url, { ...message, body: { ...message.body, params } });
    expect([status, body.error]).toEqual([
      400,
      expect.objectContaining({ code: -32022, data: expect.objectContaining({ supported: ["2026-07-28"] }) }),
    ]);
    const old = oldMessage("tools/list");
    const headers = { ...old.headers, "MCP-Protocol-Version": "1999-01-01" };
    for (const method of ["tools/list", "initialize"]) {
      const answer = await send(app.url, { headers, body: { ...old.body, method, params: greeting } });
      expect([method, answer.status]).toEqual([method, 400]);
      expect(answer.body.error).toMatchObject({ message: expect.stringContaining("2025-11-25") });
    }
  });
});

describe.each([
  ["older", oldMessage],
  ["newer", newMessage],
])("in the %s protocol", (_, message) => {
  const both = /^(application\/json|text\/event-stream)$/;
  const listed = message("tools/list");
  const post = (accept: string | undefined, { headers, body } = listed) =>
    http2Get(
      app.url,
      { ":method": "POST", ":path": "/mcp", ...headers, Accept: accept },
      JSON.stringify(body),
    );

  test.each([
    ["application/json, text/event-stream", both],
    ["APPLICATION/JSON, Text/Event-Stream", both],
    ["application/json;q=0.9, text/event-stream;q=0.5", both],
    ["*/*", /^application\/json$/],
    [undefined, /^application\/json$/],
    ["application/*", /^application\/json$/],
    ["application/json; charset=utf8", /^application\/json$/],
    ["Application/JSON", /^application\/json$/],
    ["text/event-stream;q=0, */*", /^application\/json$/],
    ["text/event-stream", /^text\/event-stream$/],
    ["text/*", /^text\/event-stream$/],
    ["application/json;q=0, */*", /^text\/event-stream$/],
  ])("an MCP client with Accept: %s gets a response of an accepted type", async (accept, type) => {
    const { status, headers, body } = await post(accept);
    expect([status, headers["content-type"]]).toEqual([200, expect.stringMatching(type)]);
    expect(JSON.parse(/^data: (.+)$/m.exec(body)?.[1] ?? body)).toMatchObject({
      id: 1,
      result: { tools: { length: 4 } },
    });
  });

  test("an MCP client that accepts only other types gets 406 with the available types", async () => {
    const { status, body } = await post("text/html");
    expect([status, JSON.parse(body)]).toMatchObject([
      406,
      { code: "not_acceptable", detail: expect.stringContaining("neither application/json nor") },
    ]);
  });

  test("an MCP client that asks for progress gets the progress in an event stream, but a client that accepts only JSON gets no progress", async () => {
    const { headers, body } = message("tools/call", { name: "analyze_position", arguments: { depth: 4 } });
    const params = Object(body.params);
    const _meta = { ...params._meta, progressToken: "p" };
    const asked = { headers, body: { ...body, params: { ...params, _meta } } };
    expect((await post("*/*", asked)).body).toContain("notifications/progress");
    expect(JSON.parse((await post("application/json", asked)).body).result).toMatchObject({
      structuredContent: { turn: "white" },
    });
  });

  test.each([
    ["tools/list", null],
    ["tools/list", { cursor: null, _meta: null }],
    ["tools/call", { name: "play_moves", arguments: null }],
    ["tools/call", { name: "play_moves", arguments: { fen: null, moves: null }, task: null }],
    ["tools/call", { name: "play_moves", arguments: '{"moves": ["e4"], "fen": null}' }],
  ])("an MCP message may have null in place of absent parameters: %s %j", async (method, params) => {
    const { headers, body } = message(method, params && "name" in params ? { name: params.name } : {});
    const { _meta } = Object(body.params);
    const sent = _meta && params ? { ...params, _meta: { ..._meta, progressToken: null } } : params;
    const answer = await send(app.url, {
      headers,
      body: { ...body, params: _meta ? (sent ?? { _meta }) : sent },
    });
    expect(answer.body).toMatchObject({ id: 1, result: {} });
    expect(answer.body.result).not.toHaveProperty("isError");
  });
});

test("an MCP client may send null in its capabilities and its name", async () => {
  const { headers, body } = oldMessage("initialize", {
    ...greeting,
    capabilities: { roots: null, sampling: null },
    clientInfo: { ...greeting.clientInfo, title: null },
  });
  expect((await send(app.url, { headers, body })).body).toMatchObject({ result: { serverInfo: {} } });
});

describe("unknown methods and tools", () => {
  test.each([
    ["the newer protocol", newMessage, 404],
    ["the older protocol", oldMessage, 200],
  ])("a request for an unknown MCP method in %s gets a protocol error", async (_, message, status) => {
    const answer = await send(app.url, message("prompts/list"));
    expect([answer.status, answer.body.error]).toEqual([status, expect.objectContaining({ code: -32601 })]);
  });

  test.each([newMessage, oldMessage])(
    "a call to an unknown MCP tool gets a protocol error that lists the known tools",
    async (message) => {
      const { body } = await send(app.url, message("tools/call", { name: "solve_chess", arguments: {} }));
      expect(body.error).toMatchObject({
        code: -32602,
        message:
          'There is no tool "solve_chess"; the tools are analyze_position, compare_moves, review_game, play_moves.',
      });
    },
  );
});

describe("invalid bodies", () => {
  const { headers } = oldMessage("ping");
  const post = (body: string | Uint8Array<ArrayBuffer>, more = {}) =>
    fetch(`${app.url}/mcp`, { method: "POST", headers: { ...headers, ...more }, body });

  test.each([
    ["invalid JSON", "{", -32700],
    ["an empty body", "", -32700],
    ["invalid UTF-8", Uint8Array.of(0x22, 0xff, 0x22), -32700],
    ["a duplicate key", '{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}', -32700],
    [
      "a batch of a version since 2025-06-18, which has no batches",
      '[{"jsonrpc":"2.0","id":1,"method":"ping"}]',
      -32600,
    ],
    [
      "more than 1000 keys",
      `{"a":{${Array.from({ length: 1001 }, (_, key) => `"k${key}":1`).join()}}}`,
      -32700,
    ],
    ["33 levels", `${'{"a":'.repeat(33)}1${"}".repeat(33)}`, -32700],
  ])("an invalid MCP body is refused: %s", async (_, body, code) => {
    const answer = await post(body);
    expect([answer.status, await answer.json()]).toEqual([
      400,
      { jsonrpc: "2.0", id: null, error: { code, message: expect.stringMatching(/\.$/) } },
    ]);
  });

  test.each([
    ["an unsupported type", 415, "{}", { "Content-Type": "text/plain" }],
    ["more than 512 KiB", 413, `{"a":"${"a".repeat(512 * 1024)}"}`, {}],
    ["more than 65,536 values", 413, JSON.stringify({ a: Array(70_000).fill(1) }), {}],
  ])("an MCP body of %s gets the status %i", async (_, status, body, more) => {
    const answer = await post(body, more);
    expect([answer.status, answer.headers.get("content-type")]).toEqual([status, "application/problem+json"]);
  });

  test("an MCP body with a game of 200 KiB is accepted", async () => {
    const pgn = `1. e4 {${"long ".repeat(40_000)}} e5 *`;
    const args = { name: "analyze_position", arguments: { pgn, depth: 1 } };
    const { body } = await send(app.url, newMessage("tools/call", args));
    expect(body.result).toMatchObject({ structuredContent: { turn: "white" } });
  });

  test("a compressed MCP body is accepted", async () => {
    const { body, headers: plain } = oldMessage("ping");
    const packed = new Response(JSON.stringify(body)).body?.pipeThrough(new CompressionStream("gzip"));
    const bytes = new Uint8Array(await new Response(packed).arrayBuffer());
    const answer = await post(bytes, { ...plain, "Content-Encoding": "gzip" });
    expect(await answer.text()).toContain('"result":{}');
  });
});

describe("hostile messages", () => {
  const odd = [
    {},
    { jsonrpc: "2.0" },
    { jsonrpc: "1.0", id: 1, method: "ping" },
    { jsonrpc: "2.0", id: {}, method: "ping" },
    { jsonrpc: "2.0", id: null, method: "tools/call" },
    { jsonrpc: "2.0", id: 1, method: 5 },
    { jsonrpc: "2.0", id: 1, method: "constructor" },
    { jsonrpc: "2.0", id: 1, method: "tools/call" },
    { jsonrpc: "2.0", id: 1, method: "tools/call", params: 5 },
    { jsonrpc: "2.0", id: 1, method: "tools/call", params: [] },
    { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: 5 } },
    { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "constructor" } },
    { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "play_moves", arguments: 5 } },
    { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "play_moves", arguments: ["e4"] } },
    {
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name: "play_moves", _meta: { progressToken: {} } },
    },
    { jsonrpc: "2.0", id: 1, method: "tools/list", params: { cursor: 5 } },
    { jsonrpc: "2.0", id: 1, method: "initialize", params: { protocolVersion: 5 } },
    { jsonrpc: "2.0", id: 1, result: {} },
    { jsonrpc: "2.0", id: 1, error: { code: 1, message: "no" } },
    { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } },
    { jsonrpc: "2.0", method: "notifications/nothing" },
  ];

  test.each(odd)(
    "a hostile MCP message is refused or ignored, and the next message is answered: %j",
    async (body) => {
      for (const { headers, body: whole } of [oldMessage("tools/call"), newMessage("tools/call")]) {
        const { _meta } = whole.params as { readonly _meta?: object };
        const given: { readonly _meta?: object } =
          typeof body === "object" && "params" in body ? Object(body.params) : {};
        const params = { ...given, _meta: { ...given._meta, ..._meta } };
        for (const hostile of [body, { ...body, params }]) {
          const { status, body: answer } = await send(app.url, { headers, body: hostile });
          expect(status).toBeLessThan(500);
          // A notification, and a response to no request, get no answer.
          expect(answer).toEqual(
            status === 202
              ? {}
              : expect.objectContaining({ error: expect.objectContaining({ code: expect.any(Number) }) }),
          );
        }
      }
      const next = await send(app.url, oldMessage("tools/list"));
      expect(next.body.result).toMatchObject({ tools: expect.any(Array) });
    },
  );

  test("MCP tool arguments with names such as __proto__ are refused as unknown", async () => {
    const { headers, body } = oldMessage("tools/call");
    for (const name of ["constructor", "toString"]) {
      const text = `{"name":"analyze_position","arguments":{"${name}":{"fen":1}}}`;
      const answer = await send(app.url, { headers, body: { ...body, params: JSON.parse(text) } });
      expect(answer.body.result).toMatchObject({
        isError: true,
        content: [{ text: expect.stringContaining(`There is no argument \`${name}\` here`) }],
      });
    }
  });
});

describe("an MCP tool refuses a game that is too long", () => {
  const knightMoves = "Nf3 Nf6 Ng1 Ng8 ".repeat(16_000);
  const variations = `1. d4 ${"(d4!{a})".repeat(29_000)} d5 *`;
  const longGame = /out_of_range.+ 600 plies .+\(ply 601, line 1, column 2401\)/;
  const manyMoves = /invalid_pgn.+ 5000 moves, .+\(ply 2, line 1, column \d+\)/;

  test.each([
    ["analyze_position", "64,000 plies", { pgn: knightMoves, ply: 0 }, longGame],
    ["review_game", "64,000 plies", { pgn: knightMoves }, longGame],
    ["analyze_position", "29,000 variations", { pgn: variations, ply: 0 }, manyMoves],
    ["review_game", "29,000 variations", { pgn: variations }, manyMoves],
  ])("the MCP tool %s refuses a game with %s", async (name, _, args, words) => {
    const { body } = await send(app.url, newMessage("tools/call", { name, arguments: args }));
    expect(body.result).toMatchObject({
      isError: true,
      content: [{ text: expect.stringMatching(words) }],
    });
  });
});

describe("MCP ids and progress tokens may have at most 256 characters", () => {
  const ofLength = (length: number) => "x".repeat(length);

  test.each([
    ["the newer protocol", newMessage],
    ["the older protocol", oldMessage],
  ])("MCP ids and progress tokens may have at most 256 characters in messages of %s", async (_, message) => {
    const { headers, body } = message("tools/call", play);
    const { _meta: meta, ...params } = body.params as { readonly _meta?: object };
    const ask = (id: string, progressToken: string) =>
      send(app.url, {
        headers,
        body: { ...body, id, params: { ...params, _meta: { ...meta, progressToken } } },
      });

    const answered = await ask(ofLength(256), ofLength(256));
    expect([answered.status, answered.body.id]).toEqual([200, ofLength(256)]);
    expect(await ask(ofLength(257), "short")).toMatchObject({
      status: 400,
      body: {
        jsonrpc: "2.0",
        id: null,
        error: { code: -32600, message: "The id of a request must have at most 256 characters, not 257." },
      },
    });
    expect(await ask("short", ofLength(500_000))).toMatchObject({
      status: 400,
      body: {
        jsonrpc: "2.0",
        id: "short",
        error: {
          code: -32602,
          message: "`params._meta.progressToken` must have at most 256 characters, not 500000.",
        },
      },
    });
  });
});

test("an MCP message whose id is a number that JSON parsers round is refused with the id null", async () => {
  for (const [message, headers] of [newMessage, oldMessage].map((of) => {
    const { headers, body } = of("tools/call", play);
    return [JSON.stringify({ ...body, id: 7 }).replace('"id":7', '"id":9007199254740993'), headers] as const;
  })) {
    const response = await fetch(`${app.url}/mcp`, { method: "POST", headers, body: message });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      id: null,
      error: { code: -32600, message: expect.stringContaining("2^53 - 1") },
    });
  }
});

describe("other methods", () => {
  test.each(["GET", "DELETE", "PUT"])(
    "%s /mcp gets 405, because the server has no sessions",
    async (method) => {
      const answer = await fetch(`${app.url}/mcp`, { method });
      expect([answer.status, answer.headers.get("allow")]).toEqual([405, "POST, OPTIONS"]);
      expect(await answer.json()).toMatchObject({ code: "method_not_allowed" });
    },
  );

  test("OPTIONS /mcp lists the allowed methods", async () => {
    const answer = await fetch(`${app.url}/mcp`, { method: "OPTIONS" });
    expect([answer.status, answer.headers.get("allow")]).toEqual([204, "POST, OPTIONS"]);
  });
});

test("GET /llms.txt describes every MCP tool with the same text as the tool list", async () => {
  const text = await (await fetch(`${app.url}/llms.txt`)).text();
  for (const { name, description } of tools) {
    expect(text).toContain(`- \`${name}\`: ${description}\n`);
  }
});

test("MCP gives the same responses over HTTP/2 as over HTTP/1.1", async () => {
  for (const { headers, body } of [newMessage("tools/call", play), oldMessage("tools/call", play)]) {
    const head = { ":method": "POST", ":path": "/mcp", ...headers };
    const answer = await http2Get(app.url, head, JSON.stringify(body));
    expect(answer).toMatchObject({ status: 200, headers: { "x-request-id": expect.any(String) } });
    expect(answer.body).toContain("Black to move");
  }
});

test("every MCP response and its log line have the request id", async () => {
  const message = newMessage("tools/call", play, { "X-Request-Id": "agent-7" });
  const { headers } = await send(app.url, message);
  expect(headers.get("x-request-id")).toBe("agent-7");
  expect(app.logged).toContainEqual(
    expect.objectContaining({ requestId: "agent-7", protocol: "mcp", method: "PlayMoves", code: "ok" }),
  );
  const asked = { name: "analyze_position", arguments: { depth: 2 } };
  await send(app.url, newMessage("tools/call", asked, { "X-Request-Id": "agent-8" }));
  expect(app.logged).toContainEqual(
    expect.objectContaining({ requestId: "agent-8", protocol: "mcp", method: "Evaluate", code: "ok" }),
  );
  const wrong = { name: "play_moves", arguments: { moves: ["e5"] } };
  await send(app.url, newMessage("tools/call", wrong, { "X-Request-Id": "agent-9" }));
  expect(app.logged.filter((line) => "requestId" in line && line.requestId === "agent-9")).toEqual([
    expect.objectContaining({ protocol: "mcp", request: "/mcp", code: "illegal_move" }),
  ]);
});

test("a subscription to changes in the list of MCP tools is acknowledged and then ended, because the list never changes", async () => {
  const message = newMessage("subscriptions/listen", { notifications: { toolsListChanged: true } });
  const answer = await fetch(`${app.url}/mcp`, {
    method: "POST",
    headers: message.headers,
    body: JSON.stringify(message.body),
  });
  const events = await answer.text();
  expect(events).toContain("notifications/subscriptions/acknowledged");
  expect(events).toContain('"resultType":"complete"');
});

describe("a batch over HTTP", () => {
  const call = (id: number, name: string, args: object) => ({
    jsonrpc: "2.0",
    id,
    method: "tools/call",
    params: { name, arguments: args },
  });
  const notification = { jsonrpc: "2.0", method: "notifications/initialized" };
  const post = (messages: unknown, headers: Record<string, string> = {}) =>
    fetch(`${app.url}/mcp`, {
      method: "POST",
      headers: {
        "Content-Type": "application/json",
        Accept: "application/json, text/event-stream",
        ...headers,
      },
      body: JSON.stringify(messages),
    });

  test.each([
    ["without a version", {}],
    ["of the version 2025-03-26", { "MCP-Protocol-Version": "2025-03-26" }],
  ])("a batch %s gets one array of answers in the order of its requests", async (_, headers) => {
    const response = await post(
      [
        call(1, "play_moves", { moves: ["e4"] }),
        notification,
        call(2, "analyze_position", { depth: 2 }),
        { jsonrpc: "2.0", id: 3, method: "nothing" },
        "no message",
        call(4, "play_moves", { moves: ["e5"] }),
      ],
      headers,
    );
    expect([response.status, response.headers.get("content-type")]).toEqual([200, "application/json"]);
    expect(await response.json()).toMatchObject([
      { id: 1, result: { structuredContent: { turn: "black" } } },
      { id: 2, result: { structuredContent: { depth: 2 } } },
      { id: 3, error: { code: -32601 } },
      { id: null, error: { code: -32600 } },
      { id: 4, result: { isError: true } },
    ]);
  });

  test("a batch of notifications gets 202 without a body", async () => {
    const response = await post([notification, notification]);
    expect([response.status, await response.text()]).toEqual([202, ""]);
  });

  test.each([
    ["no message", []],
    ["21 messages", Array.from({ length: 21 }, (_, id) => call(id, "play_moves", {}))],
    ["initialize", [{ jsonrpc: "2.0", id: 1, method: "initialize", params: {} }]],
  ])("a batch with %s is refused", async (_, messages) => {
    const response = await post(messages);
    expect([response.status, await response.json()]).toMatchObject([
      400,
      { id: null, error: { code: -32600 } },
    ]);
  });
});
