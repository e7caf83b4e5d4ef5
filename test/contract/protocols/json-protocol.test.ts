import { describe, expect, test } from "vitest";
import { EvaluateResponseSchema } from "../../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { useApp } from "../../support/running-app.ts";
import { defaultLimits, startFen } from "./cases/case.ts";
import { get, post } from "./post.ts";

const app = useApp({ KIBITZ_CACHE_MB: "0" });

const uuid = expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
const count = expect.toSatisfy(Number.isInteger);
const score = {
  cp: count,
  mate: null,
  bound: "exact",
  wdl: { win: count, draw: count, loss: count },
  win_percent: expect.any(Number),
};
const move = {
  uci: expect.stringMatching(/^[a-h][1-8][a-h][1-8]$/),
  san: expect.any(String),
  from: expect.stringMatching(/^[a-h][1-8]$/),
  to: expect.stringMatching(/^[a-h][1-8]$/),
  promotion: null,
  capture: false,
  check: false,
  castling: null,
  fen_after: expect.stringMatching(/ [wb] KQkq - \d+ [12]$/),
};
const fieldNames = EvaluateResponseSchema.fields.map(({ name }) => name);
/** The fields that are not listed are null. */
const evaluation = {
  ...Object.fromEntries(fieldNames.map((name) => [name, null])),
  id: uuid,
  fen: startFen,
  turn: "white",
  chess960: false,
  engine: { id: "stockfish-19-lite", name: "Stockfish 19 Lite WASM", version: "19", path: "wasm" },
  score,
  best_move: move,
  ponder: move,
  lines: [{ rank: 1, depth: 8, seldepth: count, score, moves: expect.any(Array), san: expect.any(Array) }],
  search: {
    depth: 8,
    seldepth: count,
    nodes: count,
    nps: count,
    time_ms: count,
    queue_ms: count,
    hashfull: count,
    tbhits: 0,
    stop_reason: "depth",
    deterministic: true,
    cached: false,
    limits: { depth: 8, multipv: 1, movetime_ms: null, options: {}, nodes: null, search_moves: [] },
  },
  warnings: [],
  summary: expect.stringMatching(/^(The position is|White is|Black is) .*\. Best move/),
};

describe("an answer", () => {
  test.each(["eval", "bestmove"])(
    "an answer of /v1/%s has every field in the documented order",
    async (call) => {
      const { status, headers, body } = await post(`${app.url}/v1/${call}`, { fen: startFen, depth: 8 });
      expect(status).toBe(200);
      expect(headers.get("content-type")).toMatch(/^application\/json\b/);
      expect(body).toStrictEqual(evaluation);
      expect(Object.keys(body)).toEqual(fieldNames);
      expect(Object.keys(body.search as object)).toEqual(Object.keys(evaluation.search));
    },
  );

  test("an answer has a SAN move for every UCI move, and the wdl values have the sum 1000", async () => {
    const { body } = await post(`${app.url}/v1/eval`, { fen: startFen, depth: 8, multipv: 4 });
    const lines = body.lines as (typeof evaluation.lines)[0][];
    expect(lines.map(({ rank }) => rank)).toEqual([1, 2, 3, 4]);
    for (const { moves, san, score } of lines) {
      expect(san).toHaveLength((moves as unknown as string[]).length);
      const { win, draw, loss } = score.wdl as unknown as Record<"win" | "draw" | "loss", number>;
      expect(win + draw + loss).toBe(1000);
    }
  });

  test("an answer about a finished game has every documented field", async () => {
    const stalemate = "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1";
    const { status, body } = await post(`${app.url}/v1/eval`, { fen: stalemate });
    expect(status).toBe(200);
    expect(body).toStrictEqual({
      ...evaluation,
      fen: stalemate,
      turn: "black",
      score: { cp: 0, mate: null, bound: "exact", wdl: { win: 0, draw: 1000, loss: 0 }, win_percent: 50 },
      best_move: null,
      ponder: null,
      lines: [],
      engine: null,
      terminal: { reason: "stalemate", winner: null, result: "1/2-1/2" },
      search: {
        ...evaluation.search,
        depth: 0,
        seldepth: 0,
        nodes: 0,
        nps: 0,
        time_ms: 0,
        queue_ms: 0,
        hashfull: 0,
        stop_reason: "terminal",
        limits: defaultLimits,
      },
      summary: "Draw by stalemate.",
    });
  });

  test("a warning in an answer has a code, a message and a field", async () => {
    const { body } = await post(`${app.url}/v1/eval`, { fen: "8/8/4k3/8/8/4K3/4P3/8 w - -", depth: 4 });
    expect(body.warnings).toStrictEqual([
      { code: "clocks_defaulted", message: expect.stringMatching(/^[A-Z].*\.$/), field: "fen" },
    ]);
  });
});

describe("GET", () => {
  test.each([
    ["/engines", "/v1/engines"],
    ["/price", "/v1/price"],
    ["/price?depth=12&multipv=2", "/v1/price?depth=12&multipv=2"],
  ])("GET %s returns the same answer as GET %s", async (short, long) => {
    const [one, other] = [await get(app.url + short), await get(app.url + long)];
    expect(one.status).toBe(200);
    expect(one.body).toEqual(other.body);
  });

  test("the response to GET /price has every documented field", async () => {
    const { body } = await get(`${app.url}/price`);
    expect(body).toStrictEqual({
      operation: "eval",
      unit: "call",
      amount: "0",
      currency: "USD",
      paid_enabled: false,
      plans: [
        {
          id: "keyless",
          requires_key: false,
          limits: {
            depth_max: 30,
            multipv_max: 10,
            movetime_ms_max: 60_000,
            concurrent: null,
            rates: [],
            nodes_max: 1_000_000_000,
            review_plies_max: 600,
            batch_max: 200,
          },
        },
      ],
      key_url: null,
      estimate: null,
    });
  });

  test("/price?depth= estimates a longer time for a greater depth, up to movetime_ms", async () => {
    const typical = async (query: string) => {
      const { body } = await get(`${app.url}/price?${query}`);
      const { typical_ms, allowed } = body.estimate as { typical_ms: number; allowed: object };
      expect(allowed).toEqual([{ plan: "keyless", allowed: true }]);
      return typical_ms;
    };
    expect(await typical("depth=18")).toBeGreaterThan(await typical("depth=10"));
    expect(await typical("depth=30&movetime_ms=100")).toBe(100);
  });
});
