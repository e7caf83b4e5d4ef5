import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { describe, expect, test } from "vitest";
import { watchWork } from "../../contract/protocols/watch-work.ts";
import { createEnginesInProcess } from "../../support/engines-in-process.ts";
import { newCaller } from "../../support/new-caller.ts";
import { rateOf, usePlansFile } from "../../support/plans-file.ts";
import { useApp } from "../../support/running-app.ts";
import { newest, type ToolResult } from "./agents.ts";
import { newMessage, oldMessage, send } from "./messages.ts";

const connect = newest.overHttp;

function suggestedBy({ meta }: ToolResult) {
  const call = meta["kibitz/suggested_call"] as
    | { name: string; arguments: Record<string, unknown> }
    | undefined;
  return call ?? { name: "nothing", arguments: {} };
}

describe("errors that an agent can fix", () => {
  const app = useApp({ KIBITZ_ACCESS: "public" }, { engines: createEnginesInProcess({ quickPlies: 30 }) });

  test.each([
    [
      "analyze_position",
      { moves: ["e4", "e5", "Qh9"] },
      ["'Qh9'", "(moves[2]", "The 20 nearest of 29 legal moves there: Qe2 (d1e2)", "5 . . . . p . . ."],
      { name: "play_moves", arguments: { fen: "startpos", moves: ["e4", "e5"] } },
    ],
    [
      "play_moves",
      { moves: ["e5"] },
      ["'e5'", "(moves[0]", "there: e3 (e2e3), e4 (e2e4)"],
      { name: "play_moves", arguments: { fen: "startpos", moves: [] } },
    ],
    [
      "compare_moves",
      { moves: ["e4"], candidates: ["e5", "c5", "Nf3"] },
      ["'Nf3'", "(candidates[2]", "Black to move", "Nf6 (g8f6)"],
      { name: "play_moves", arguments: { fen: "startpos", moves: ["e4"] } },
    ],
    [
      "compare_moves",
      { candidates: ["e4", "e9"] },
      ["'e9'", "(candidates[1]"],
      { name: "play_moves", arguments: { fen: "startpos", moves: [] } },
    ],
    [
      "review_game",
      { moves: ["e4", "e5", "Ke3"], depth: 2 },
      ["'Ke3'", "(moves[2]", "Ke2 (e1e2)"],
      { name: "review_game", arguments: { moves: ["e4", "e5"], depth: 2 } },
    ],
    [
      "review_game",
      { pgn: "1. e4 e5 2. Ke3 *", depth: 2 },
      ["'Ke3'", "ply 3, line 1, column 13", "Ke2 (e1e2)"],
      { name: "review_game", arguments: { pgn: "1. e4 e5", depth: 2 } },
    ],
    [
      "review_game",
      { pgn: "1. e4 e5 2. Cf3 *", depth: 2 },
      ["begins with 'C', which is not a piece in PGN"],
      { name: "review_game", arguments: { pgn: "1. e4 e5 2. Nf3 *", depth: 2 } },
    ],
    [
      "analyze_position",
      { pgn: "1. e4 e5 2. Ke3 *", depth: 2 },
      ["'Ke3'", "(after 2 half-moves): White to move"],
      {
        name: "play_moves",
        arguments: { fen: "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2", moves: [] },
      },
    ],
    [
      "analyze_position",
      { depth: 0 },
      ["(out_of_range)", "`depth`"],
      { name: "analyze_position", arguments: { fen: "startpos", depth: 1 } },
    ],
    [
      "analyze_position",
      { depth: 30 },
      ["(upgrade_needed)", "20", "An API key of the plan free allows it: its user gets one at /v1/keys"],
      { name: "analyze_position", arguments: { fen: "startpos", depth: 20 } },
    ],
    [
      "analyze_position",
      { fen: "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq", depth: 2 },
      ["(invalid_fen)"],
      {
        name: "analyze_position",
        arguments: { fen: "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", depth: 2 },
      },
    ],
    [
      "analyze_position",
      { fen: "4k3/8/8/8/8/8/8/4K3 w", depth: 2 },
      ["invalid_fen", "The FEN has 2 fields"],
      { name: "analyze_position", arguments: { fen: "4k3/8/8/8/8/8/8/4K3 w - - 0 1", depth: 2 } },
    ],
  ])("an MCP tool error says how to fix the call: %s %o", async (tool, args, words, suggestion) => {
    const agent = await connect(app.url);
    const answer = await agent.ask(tool, args);
    expect([answer.isError, answer.structured]).toEqual([true, undefined]);
    for (const word of words) {
      expect(answer.text).toContain(word);
    }
    expect(answer.text).toContain(`This call would be answered: ${suggestion.name} `);
    expect(answer.text.length).toBeLessThanOrEqual(4000);
    const suggested = suggestedBy(answer);
    expect(suggested).toEqual(suggestion);
    const again = await agent.ask(suggested.name, suggested.arguments);
    expect(again.isError, again.text).toBe(false);
  });

  test("an MCP error contains a very long corrected call only in _meta, not in its text", async () => {
    const game = `1. e4 {${"long ".repeat(1000)}} e5`;
    const agent = await connect(app.url);
    const answer = await agent.ask("review_game", { pgn: `${game} 2. Ke3 *`, depth: 2 });
    expect(answer.text).toContain("Ke2 (e1e2)");
    expect(answer.text).not.toContain("This call would be answered");
    expect(answer.text).toMatch(/\n\(shortened\)$/);
    const { name, arguments: suggested } = suggestedBy(answer);
    expect([name, suggested]).toEqual(["review_game", { pgn: game, depth: 2 }]);
    expect((await agent.ask(name, suggested)).isError).toBe(false);
  });

  test.each([
    ["analyze_position", { fen: "8/8/8/8/8/8/8/8 w - - 0 1" }, /illegal_position.*\n- White .*\n- Black /],
    ["analyze_position", { fen: 7 }, /invalid_type.*`fen`/],
    ["analyze_position", { moves: "a text without a meaning" }, /illegal_move.*'a'/],
    ["analyze_position", { chess960: 5 }, /invalid_type.*`chess960`.*5/],
    ["analyze_position", { chess960: true, pgn: "1. e4" }, /tag Variant/],
    ["analyze_position", { movetime_ms: 5 }, /unknown_field.*`movetime_ms`.*fen, moves, chess960, pgn/],
    ["analyze_position", { dept: 2 }, /unknown_field.*did you mean `depth`/],
    ["analyze_position", { pgn: "1. e4 e5 *", ply: 9 }, /out_of_range.*`ply`.*9/],
    ["analyze_position", { pgn: "1. e4 *", moves: ["e4"] }, /`pgn`.*`moves`/],
    ["analyze_position", { pgn: 5 }, /invalid_type.*`pgn`.*5/],
    ["analyze_position", { pgn: "x".repeat(262_145) }, /out_of_range.*`pgn`.*262144/],
    ["analyze_position", { ply: 5 }, /`ply`.*`pgn`/],
    ["analyze_position", { ply: 1.5, pgn: "1. e4 *" }, /invalid_type.*`ply`.*1\.5/],
    ["analyze_position", { engine: "rybka" }, /unknown_engine.*"rybka"/],
    ["compare_moves", { candidates: ["e4"] }, /out_of_range.*`candidates`.*2 to 5.* 1\./],
    ["compare_moves", {}, /`candidates`.*2 to 5/],
    ["compare_moves", { candidates: "e4" }, /out_of_range.*`candidates`.*2 to 5.* 1\./],
    ["compare_moves", { candidates: ["e4", 5] }, /invalid_type.*`candidates`.*5/],
    ["compare_moves", { candidates: [] }, /out_of_range.*`candidates`.*2 to 5.* 0/],
    ["analyze_position", { moves: '[["e4"]]' }, /invalid_type.*`moves`/],
    ["analyze_position", { moves: "[".repeat(100_000) }, /invalid_type.*`moves`/],
    ["analyze_position", { depth: "six" }, /invalid_type.*`depth`.*"six"/],
    ["analyze_position", { depth: "6.5" }, /invalid_type.*`depth`.*"6\.5"/],
    ["review_game", {}, /no game/],
    ["review_game", { pgn: "", moves: [] }, /no game/],
    ["review_game", { pgn: "nothing" }, /invalid_pgn/],
    ["play_moves", { moves: Array(601).fill("e4") }, /out_of_range.*600.*601/],
    ["play_moves", { fen: "x".repeat(129) }, /128/],
    ["play_moves", { pgn: "1. e4 *" }, /unknown_field.*`pgn`/],
  ])("an MCP tool error names the wrong argument: %s %o", async (tool, args, words) => {
    const { isError, text, meta } = await (await connect(app.url)).ask(tool, args);
    expect([isError, text]).toEqual([true, expect.stringMatching(words)]);
    expect(text.length).toBeLessThanOrEqual(4000);
    expect(meta["kibitz/error"]).toMatchObject({ code: expect.any(String), next_action: expect.any(String) });
  });

  test("an MCP tool does not repeat an API key from its arguments", async () => {
    const key = "kbz_0123456789abcdefghijklmnopqrstuvwxyz";
    const agent = await connect(app.url);
    for (const args of [
      { moves: [key.slice(0, 16)] },
      { fen: key },
      { [key]: 1 },
      { engine: key },
      { pgn: key },
    ]) {
      const { text, meta } = await agent.ask("analyze_position", args);
      expect(text + JSON.stringify(meta)).not.toContain(key.slice(0, 16));
    }
  });
});

describe("limits", () => {
  const limits = { rates: [rateOf("minute", 3, 60), rateOf("refusals", 2, 60, "refusal")] };
  const app = useApp(
    {
      KIBITZ_ACCESS: "public",
      KIBITZ_PLANS: usePlansFile({ id: "keyless", limits }),
      KIBITZ_TRUST_PROXY: "127.0.0.1",
    },
    { engines: createEnginesInProcess() },
  );

  test.each(["play_moves", "analyze_position"])(
    "each call of the MCP tool %s counts as a request towards the rate limit",
    async (tool) => {
      const agent = await connect(app.url, newCaller());
      for (let count = 0; count < 3; count++) {
        expect((await agent.ask(tool, { moves: ["e4"] })).isError).toBe(false);
      }
      const { isError, text, meta } = await agent.ask(tool, { moves: ["e4"] });
      expect([isError, text]).toEqual([true, expect.stringMatching(/rate_limited.*\n\n.* again in \d\d s/s)]);
      expect(meta["kibitz/error"]).toMatchObject({
        next_action: "retry_later",
        retry_after_ms: expect.any(Number),
      });
      expect(await agent.list()).toHaveLength(4);
    },
  );

  test.each([newMessage, oldMessage])(
    "an MCP response has the rate limit headers in each version of the protocol",
    async (message) => {
      const { headers, body } = message("tools/call", { name: "analyze_position", arguments: { depth: 1 } });
      const answer = await send(app.url, { headers: { ...headers, ...newCaller() }, body });
      expect(answer.headers.get("ratelimit")).toMatch(/^"minute";r=2;t=\d+$/);
    },
  );

  test.each([newMessage, oldMessage])(
    "an MCP client whose error quota is used up gets HTTP 429 with the time to wait",
    async (message) => {
      const caller = newCaller();
      const { headers, body } = message("tools/call", { name: "play_moves", arguments: { moves: ["e5"] } });
      const ask = () => send(app.url, { headers: { ...headers, ...caller }, body });
      expect((await ask()).body.result).toMatchObject({ isError: true });
      expect((await ask()).body.result).toMatchObject({ isError: true });
      const { status, body: problem, headers: answered } = await ask();
      expect([status, answered.get("content-type")]).toEqual([429, "application/problem+json"]);
      expect(problem).toMatchObject({ code: "rate_limited", next_action: "retry_later" });
      expect(Number(answered.get("retry-after"))).toBeGreaterThan(0);
    },
  );
});

describe("errors of the protocol", () => {
  const rates = [rateOf("minute", 3, 60), rateOf("refusals", 2, 60, "refusal")];
  const app = useApp(
    {
      KIBITZ_ACCESS: "public",
      KIBITZ_PLANS: usePlansFile({ id: "keyless", limits: { rates } }),
      KIBITZ_TRUST_PROXY: "127.0.0.1",
    },
    { engines: createEnginesInProcess() },
  );

  test("an invalid MCP body uses error quota", async () => {
    const headers = { ...oldMessage("ping").headers, ...newCaller() };
    const signal = AbortSignal.timeout(10_000);
    const calls = Array.from({ length: 10 }, () => {
      const call = request(`${app.url}/mcp`, {
        method: "POST",
        agent: false,
        signal,
        headers: { ...headers, "Content-Length": 1 },
      });
      call.flushHeaders();
      return call;
    });
    // All requests are admitted before the first one is refused.
    await new Promise((resolve) => setTimeout(resolve, 300));
    const statuses = calls.map(async (call) => {
      const [answer] = (await once(call.end("{"), "response")) as [IncomingMessage];
      answer.resume();
      return answer.statusCode;
    });
    expect(new Set(await Promise.all(statuses))).toEqual(new Set([400, 429]));
  });

  test.each([
    ["an unknown tool", oldMessage, "tools/call", { name: "play_poker", arguments: {} }],
    ["an unknown tool", newMessage, "tools/call", { name: "play_poker", arguments: {} }],
    ["no name of a tool", oldMessage, "tools/call", { name: 5 }],
    ["an unknown method", oldMessage, "tools/burn", {}],
    ["an unknown method", newMessage, "tools/burn", {}],
  ] as const)("an MCP message with %s uses error quota: %o", async (_, message, method, params) => {
    const caller = { ...newCaller() };
    const ask = async (asked = message(method, params)) =>
      send(app.url, { ...asked, headers: { ...asked.headers, ...caller } });
    const codes = [];
    for (let sent = 0; sent < 2; sent++) {
      codes.push((await ask()).body.error);
    }
    expect(codes).toEqual(codes.map(() => ({ code: expect.any(Number), message: expect.any(String) })));
    // The server refuses the third message without reading the body.
    expect((await ask(message("tools/list"))).status).toBe(429);
  });

  test("a successful MCP message uses no error quota", async () => {
    for (let sent = 0; sent < 4; sent++) {
      for (const message of [newMessage, oldMessage]) {
        expect((await send(app.url, message("tools/list"))).status).toBe(200);
      }
    }
    const move = { name: "play_moves", arguments: { moves: ["e4"] } };
    expect((await send(app.url, newMessage("tools/call", move))).body.result).not.toHaveProperty("isError");
  });
});

describe("a caller at its limit of concurrent searches", () => {
  const engines = createEnginesInProcess();
  const app = useApp(
    { KIBITZ_ACCESS: "public", KIBITZ_PLANS: usePlansFile({ id: "keyless", limits: { concurrent: 1 } }) },
    { engines },
  );

  test("an MCP tool call that needs a search is refused while its caller has too many searches", async () => {
    const agent = await connect(app.url);
    const leaving = new AbortController();
    const asked = agent.ask("analyze_position", { depth: 20 }, { signal: leaving.signal });
    const end = expect(asked).rejects.toThrow("left");
    await watchWork(engines).expectWork();
    const { text, meta } = await agent.ask("analyze_position", { moves: ["e4"], depth: 20 });
    expect(text).toMatch(/concurrency_limited.*\n\nTry the same call again in \d+ s/);
    expect(meta["kibitz/error"]).toMatchObject({ next_action: "retry_later" });
    expect((await agent.ask("play_moves", { moves: ["e4"] })).isError).toBe(false);
    leaving.abort(new Error("left"));
    await end;
  });
});

describe("keys required", () => {
  const app = useApp({ KIBITZ_ACCESS: "keys" }, { engines: createEnginesInProcess() });

  test.each([
    ["without a key", {}, "Bearer", "api_key_required"],
    [
      "with a wrong key",
      { Authorization: "Bearer kbz_wrong" },
      'Bearer error="invalid_token"',
      "invalid_api_key",
    ],
  ])(
    "if API keys are required, an MCP client %s is refused over HTTP",
    async (_, headers, challenge, code) => {
      const { headers: answered, ...answer } = await send(app.url, newMessage("tools/list", {}, headers));
      expect(answer).toMatchObject({ status: 401, body: { code } });
      expect(answered.get("www-authenticate")).toBe(challenge);
    },
  );
});
