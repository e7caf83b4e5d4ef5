import { createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { AnalysisService } from "../../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { createEnginesInProcess } from "../../support/engines-in-process.ts";
import { rateOf, usePlansFile } from "../../support/plans-file.ts";
import { useApp } from "../../support/running-app.ts";
import { startFen } from "./cases/case.ts";
import { post } from "./post.ts";
import type { Plain } from "./protocol.ts";

/** With these limits, searches are short and callers are never rate limited. */
const limits = { movetime_ms_max: 60, concurrent: 1000, rates: [rateOf("minute", 1_000_000, 60)] };
const plans = usePlansFile({ id: "keyless", limits }, { id: "free", limits: { ...limits, depth_max: 25 } });

const board = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR";
const json = { "Content-Type": "application/json" };

interface Advice {
  readonly code: string;
  readonly next_action: string;
  readonly suggested_request: Plain | null;
}

const keysOnly = useApp(
  { KIBITZ_ACCESS: "keys", KIBITZ_PLANS: plans },
  { engines: createEnginesInProcess() },
);

describe("to a caller", () => {
  // The service must answer a suggestion, but the content of the answer is not important. Therefore, the searches are short.
  const app = useApp(
    { KIBITZ_ACCESS: "public", KIBITZ_PLANS: plans },
    { engines: createEnginesInProcess({ quickPlies: 30 }) },
  );

  async function adviceFor(
    request: Plain | string,
    path = "/v1/eval",
    headers: Readonly<Record<string, string>> = json,
  ) {
    const { body } = await post(app.url + path, request, headers);
    const { code, next_action, suggested_request } = body as unknown as Advice;
    return [code, next_action, suggested_request];
  }

  test.each([
    ["rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR w KQkq e3 0 1", null],
    ["rnbqkbnr/pppp1ppp/8/4p3/8/8/PPPPPPPP/RNBQKBNR b KQkq e6 0 1", null],
    [`${board} w KQkq e3 0 1`, `${board} w KQkq - 0 1`],
    ["4k3/8/8/8/4P3/8/4P3/4K3 w - e3 0 1", "4k3/8/8/8/4P3/8/4P3/4K3 w - - 0 1"],
    ["4k3/8/8/8/4p3/8/8/4K3 w - e3 0 1", "4k3/8/8/8/4p3/8/8/4K3 w - - 0 1"],
  ])(
    "a suggestion removes the en passant square of %s only if the side to move cannot be the mistake",
    async (fen, suggested) => {
      expect(await adviceFor({ fen, depth: 2 })).toEqual([
        "invalid_fen",
        suggested === null ? "fix_request" : "send_suggested_request",
        suggested === null ? null : { fen: suggested, depth: 2 },
      ]);
    },
  );

  test("a suggestion replaces each value out of range by the nearest value that the plan allows", async () => {
    expect(await adviceFor({ fen: startFen, depth: 0, multipv: 0, movetime_ms: 1 })).toEqual([
      "out_of_range",
      "send_suggested_request",
      { fen: startFen, depth: 1, multipv: 1, movetime_ms: 50 },
    ]);
    expect(await adviceFor({ fen: startFen, depth: 99 })).toEqual(["out_of_range", "fix_request", null]);
    expect(await adviceFor({ fen: startFen, depth: 25 })).toEqual([
      "upgrade_needed",
      "get_api_key",
      { fen: startFen, depth: 20 },
    ]);
  });

  test.each<[sent: Plain, code: string, suggested: Plain]>([
    [{ depth: "12" }, "invalid_type", { depth: 12 }],
    [{ depth: " 9 " }, "invalid_type", { depth: 9 }],
    [{ depth: 14.5 }, "invalid_type", { depth: 15 }],
    [{ multipv: "2", nodes: "20000" }, "invalid_type", { multipv: 2, nodes: 20_000 }],
    [{ movetime_ms: "50" }, "invalid_type", { movetime_ms: 50 }],
    [{ movetime: 55 }, "unknown_field", { movetime_ms: 55 }],
    [{ moves: "e2e4 e7e5" }, "invalid_type", { moves: ["e2e4", "e7e5"] }],
    [{ moves: "1. e4, e5 2.Nf3" }, "invalid_type", { moves: ["e4", "e5", "Nf3"] }],
    [{ search_moves: "e4" }, "invalid_type", { search_moves: ["e4"] }],
    [{ MoveTimeMs: 50 }, "unknown_field", { movetime_ms: 50 }],
    [{ deph: 9, searchMoves: ["e4"] }, "unknown_field", { depth: 9, search_moves: ["e4"] }],
    [{ options: { skill_level: "3" } }, "invalid_option", { options: { skill_level: 3 } }],
    [{ options: { skill_level: 99 } }, "invalid_option", { options: { skill_level: 20 } }],
    [{ options: { skillLevel: 3 } }, "option_not_allowed", { options: { skill_level: 3 } }],
    [
      { options: { uci_limit_strength: "true", uci_elo: "1500" } },
      "invalid_option",
      { options: { uci_limit_strength: true, uci_elo: 1500 } },
    ],
  ])("a suggestion corrects a wrong type or a misspelt key: %j", async (sent, code, suggested) => {
    const advice = [code, "send_suggested_request", { fen: startFen, ...suggested }];
    expect(await adviceFor({ fen: startFen, ...sent })).toEqual(advice);
    const { body } = await post(`${app.url}/v1/eval/batch`, { requests: [{ fen: startFen, ...sent }] });
    const [{ problem }] = body as unknown as readonly [{ readonly problem: Advice }];
    expect([problem.code, problem.next_action, problem.suggested_request]).toEqual(advice);
    expect((await post(`${app.url}/v1/eval`, { fen: startFen, ...suggested })).status).toBe(200);
  });

  test("a suggestion corrects misspelt keys of required fields, of batches and of games", async () => {
    for (const [path, sent, suggested] of [
      ["/v1/eval", { FEN: "startpos", depth: 2 }, { depth: 2, fen: "startpos" }],
      ["/v1/eval/batch", { request: [{ fen: "startpos" }] }, { requests: [{ fen: "startpos" }] }],
      ["/v1/review", { PGN: "1. e4", depth: "2" }, { pgn: "1. e4", depth: 2 }],
    ] as const) {
      const advice = await adviceFor(sent, path);
      expect(advice).toEqual(["unknown_field", "send_suggested_request", suggested]);
      expect((await post(app.url + path, suggested)).status).toBe(200);
    }
  });

  test.each<[sent: Plain, code: string]>([
    [{ depth: true }, "invalid_type"],
    [{ moves: "e4 and e5" }, "invalid_type"],
    [{ moves: "" }, "invalid_type"],
    [{ depth: "deep" }, "invalid_type"],
    [{ depth: "" }, "invalid_type"],
    [{ depth: "0x10" }, "invalid_type"],
    [{ depth: "1e1" }, "invalid_type"],
    [{ deph: 3, depth: 4 }, "unknown_field"],
    [{ deph: 3, depht: 4 }, "unknown_field"],
    [{ deeper: 3 }, "unknown_field"],
    [{ options: { uci_limit_strength: 1 } }, "invalid_option"],
    [{ options: { uci_elo: "2000" } }, "invalid_option"],
  ])("a request with several possible corrections gets no suggestion: %j", async (sent, code) => {
    expect(await adviceFor({ fen: startFen, ...sent })).toEqual([code, "fix_request", null]);
  });

  test("a suggestion completes the FEN and keeps all other fields except null values", async () => {
    expect(await adviceFor({ fen: board, depth: 3, path: "wasm", engine: null })).toEqual([
      "invalid_fen",
      "send_suggested_request",
      { fen: startFen, depth: 3, path: "wasm" },
    ]);
  });

  test.each<[name: string, request: Plain, code: string]>([
    ["another field is also wrong, and the FEN is incomplete", { fen: board, depth: -1 }, "out_of_range"],
    ["the completed request exceeds the plan", { fen: board, multipv: 9 }, "invalid_fen"],
    ["the position is also illegal", { fen: "8/8/8/8/8/8/8/8 w - - 0 1", depth: -1 }, "out_of_range"],
    ["the FEN is also missing", { depth: -1 }, "out_of_range"],
    ["the engine of a short FEN is unknown", { fen: board, engine: "nope" }, "invalid_fen"],
    ["the engine is also unknown", { fen: startFen, depth: -1, engine: "nope" }, "out_of_range"],
    ["the engine does not run on the path", { fen: startFen, depth: -1, path: "native" }, "out_of_range"],
    ["the engine does not have the option", { fen: board, options: { contempt: 1 } }, "invalid_fen"],
    ["a move is illegal", { fen: startFen, moves: ["e5"], depth: -1 }, "out_of_range"],
    ["a move to search is illegal", { fen: startFen, search_moves: ["e5"], depth: -1 }, "out_of_range"],
  ])("a request gets no suggestion if %s", async (_, request, code) => {
    for (const path of ["/v1/eval", "/v1/bestmove", "/v1/eval/stream"]) {
      expect(await adviceFor(request, path)).toEqual([code, "fix_request", null]);
    }
  });

  test("the invalid items of a batch over RPC get suggestions", async () => {
    const transport = createConnectTransport({ baseUrl: app.url, httpVersion: "1.1" });
    const client = createClient(AnalysisService, transport);
    const requests = [
      { fen: board, depth: 3, options: { skill_level: 3 } },
      { fen: board, engine: "nope" },
      { fen: startFen, multipv: 6 },
    ];
    const answers = await Array.fromAsync(client.evaluateBatch({ requests }));
    const advice = answers
      .toSorted((a, b) => a.index - b.index)
      .map(
        ({ outcome }) =>
          outcome.case === "problem" && [outcome.value.nextAction, outcome.value.suggestedRequest],
      );
    expect(advice).toEqual([
      ["send_suggested_request", { fen: startFen, depth: 3, options: { skill_level: 3 } }],
      ["fix_request", undefined],
      ["get_api_key", { fen: startFen, multipv: 5 }],
    ]);
  });

  test("a client with a key gets suggestions within the limits of the key", async () => {
    const { body } = await post(`${app.url}/v1/keys`, {});
    const keyed = { ...json, Authorization: `Bearer ${body.key}` };
    expect(await adviceFor({ fen: startFen, depth: 30 }, "/v1/eval", keyed)).toEqual([
      "upgrade_needed",
      "send_suggested_request",
      { fen: startFen, depth: 25 },
    ]);
  });

  test("every corrected request gets the status 200", async () => {
    let suggested = 0;
    const sendBack = async (advice: Advice) => {
      const { code, next_action, suggested_request: suggestion } = advice;
      if (suggestion === null) {
        expect(next_action, code).not.toBe("send_suggested_request");
        return;
      }
      suggested++;
      expect(["send_suggested_request", "get_api_key"]).toContain(next_action);
      const { status, body } = await post(`${app.url}/v1/eval`, suggestion);
      expect(status, `${JSON.stringify(suggestion)} is ${JSON.stringify(body)}`).toBe(200);
    };
    await fc.assert(
      fc.asyncProperty(fc.array(brokenRequest, { minLength: 4, maxLength: 8 }), async (requests) => {
        const single = requests.map(async (request, index) => {
          const path = ["/v1/eval", "/v1/bestmove", "/v1/eval/stream"][index % 3];
          const response = await fetch(app.url + path, {
            method: "POST",
            headers: json,
            body: JSON.stringify(request),
          });
          if (response.ok) {
            return response.body?.cancel();
          }
          return sendBack((await response.json()) as Advice);
        });
        await Promise.all(single);
        const { body } = await post(`${app.url}/v1/eval/batch`, { requests });
        for (const { problem } of body as unknown as readonly { readonly problem: Advice | null }[]) {
          if (problem) {
            await sendBack(problem);
          }
        }
      }),
      { numRuns: 25 },
    );
    expect(suggested).toBeGreaterThan(20);
  });
});

test("a client without a key gets no suggestion if a key is required", async () => {
  const { body } = await post(`${keysOnly.url}/v1/eval`, { fen: startFen, depth: -1 });
  expect([body.next_action, body.suggested_request]).toEqual(["contact_operator", null]);
});

/** Most generated requests are invalid. Many invalid requests can be corrected. */
const brokenRequest: fc.Arbitrary<Plain> = fc.record({
  fen: fc.oneof(
    {
      weight: 3,
      arbitrary: fc.constantFrom(startFen, "startpos", board, `${board} b`, "8/8/4k3/8/8/4K3/4P3/8 w"),
    },
    { weight: 1, arbitrary: fc.constantFrom("4k3/8/8/8/8/8/4R3/4K3", "8/8/8/8/8/8/8/8", "", "start") },
  ),
  depth: number(30),
  multipv: number(10),
  movetime_ms: number(60),
  nodes: number(2_000_000),
  engine: seldom("stockfish-19-lite", "nope", ""),
  path: seldom("auto", "wasm", "native", "gpu"),
  options: seldom<unknown>({ skill_level: 3 }, { skill_level: 99 }, { uci_elo: 2000 }, { hash: 1 }),
  moves: seldom(["e4"], ["e2e4", "e7e5"], ["Ke3"]),
  search_moves: seldom([], ["e4"], ["e2e4", "d4", "e4"], ["Ke3"], [""]),
  deph: seldom(1),
});

function number(max: number): fc.Arbitrary<unknown> {
  return fc.oneof(
    { weight: 6, arbitrary: fc.constant(undefined) },
    { weight: 3, arbitrary: fc.integer({ min: 1, max }) },
    { weight: 2, arbitrary: fc.constantFrom(-1, 0, 0, max + 1, 2 ** 32) },
    { weight: 1, arbitrary: fc.constantFrom<unknown>(null, "14", 14.5) },
  );
}

function seldom<T>(...values: readonly T[]): fc.Arbitrary<T | undefined> {
  return fc.oneof(
    { weight: 19, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: fc.constantFrom(...values) },
  );
}
