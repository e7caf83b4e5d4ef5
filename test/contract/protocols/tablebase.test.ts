import { copyFileSync, renameSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { beforeAll, describe, expect, test } from "vitest";
import { createEnginesInProcess } from "../../support/engines-in-process.ts";
import { rateOf, usePlansFile } from "../../support/plans-file.ts";
import { useApp } from "../../support/running-app.ts";
import { tablesFolder, verifyTablesOf } from "../../support/tables.ts";
import { useTemporaryFolder } from "../../support/temporary-folder.ts";
import { get, post } from "./post.ts";
import type { Plain } from "./protocol.ts";

/** The fake engine moves the white king, and Black takes the rook. */
const rookHangs = "8/8/8/3k4/4R3/8/8/K7 w - - 0 1";
const settings = { KIBITZ_SYZYGY: tablesFolder };
const fakeEngines = () => ({ engines: createEnginesInProcess() });
/** White has won. No table is needed. */
const mated = "k7/1Q6/1K6/8/8/8/8/8 b - - 0 1";
const lookUp = (url: string, query: string, headers = {}) => get(`${url}/v1/tablebase?${query}`, { headers });
const queryOf = (fen: string) => new URLSearchParams({ fen }).toString();

describe("an engine that chooses a move that gives the win away", () => {
  const app = useApp(settings, fakeEngines());
  beforeAll(() => verifyTablesOf(app.url));

  /** The answer of a service with tables to an engine that loses the rook. */
  const corrected = {
    tablebase: { category: "win", winner: "white", men: 3 },
    best_move: { from: "e4" },
    ponder: null,
    score: { cp: 500, win_percent: 100 },
    lines: [{ moves: ["a1a2", expect.any(String)], score: { cp: 500 } }],
    warnings: [{ code: "best_move_from_tablebase" }],
    summary: expect.stringMatching(/^White wins \(tablebase\)\. Best move: R/),
  };

  test("an evaluation and a best move have the move of the endgame tables, searched or cached", async () => {
    for (const path of ["/v1/eval", "/v1/bestmove", "/v1/eval"]) {
      const { body } = await post(app.url + path, { fen: rookHangs, depth: 5 });
      expect(body).toMatchObject(corrected);
    }
  });

  test("every state of a stream and every item of a batch has the move of the endgame tables", async () => {
    const body = JSON.stringify({ fen: rookHangs, depth: 6 });
    const headers = { "Content-Type": "application/json" };
    const stream = await fetch(`${app.url}/v1/eval/stream`, { method: "POST", headers, body });
    const states = (await stream.text())
      .split("\n\n")
      .filter((event) => event.startsWith("event: evaluation"))
      .map((event) => JSON.parse(event.slice(event.indexOf("data: ") + 6)));
    expect(states.length).toBeGreaterThan(0);
    for (const state of states) {
      expect(state).toMatchObject(corrected);
    }
    const batch = await post(`${app.url}/v1/eval/batch`, { requests: [{ fen: rookHangs, depth: 5 }] });
    expect(batch.body).toMatchObject([{ index: 0, result: corrected }]);
  });

  test("a weakened engine plays its own move", async () => {
    const weak = { fen: rookHangs, depth: 5, options: { skill_level: 3 } };
    const { body } = await post(`${app.url}/v1/bestmove`, weak);
    expect(body).toMatchObject({ best_move: { uci: "a1a2" }, tablebase: { category: "win" } });
  });
});

describe("GET /v1/tablebase", () => {
  const app = useApp(settings, fakeEngines());
  beforeAll(() => verifyTablesOf(app.url));

  test("GET /v1/tablebase asks no engine", async () => {
    const { status, body } = await lookUp(app.url, queryOf(rookHangs));
    expect([status, body.fen]).toEqual([200, rookHangs]);
    const [first] = body.moves as readonly Plain[];
    expect(first).toEqual({
      uci: expect.stringMatching(/^e4/),
      san: expect.stringMatching(/^R/),
      category: "loss",
      dtz_plies: expect.any(Number),
      zeroing: false,
      checkmate: false,
      stalemate: false,
    });
    expect(app.logged).toContainEqual(expect.objectContaining({ method: "ProbeTablebase", code: "ok" }));
  });

  test("GET /v1/tablebase returns 304 if the client already has the answer", async () => {
    const { headers } = await lookUp(app.url, queryOf(rookHangs));
    const etag = headers.get("etag") ?? "";
    expect(etag).toMatch(/^W\/"[\w-]{22}"$/);
    const again = await fetch(`${app.url}/v1/tablebase?${queryOf(rookHangs)}`, {
      headers: { "If-None-Match": etag },
    });
    expect(again.status).toBe(304);
  });

  test.each([
    ["a parameter of another call", `${queryOf(rookHangs)}&depth=4`, "unknown_field", "/depth"],
    ["two positions", `${queryOf(rookHangs)}&fen=startpos`, "invalid_type", "/fen"],
    ["no position", "", "invalid_fen", "/fen"],
  ])("GET /v1/tablebase refuses %s", async (_, query, code, pointer) => {
    const { status, body } = await lookUp(app.url, query);
    expect([status, body.code]).toEqual([400, code]);
    expect(body.errors).toMatchObject([{ pointer }]);
  });

  test.each([
    ["the largest table", "startpos", "3 men"],
    ["castling rights", "4k3/8/8/8/8/8/8/4K2R w K - 0 1", "castling rights"],
  ])("a position that no table knows is 404, and the detail names %s", async (_, fen, words) => {
    const { status, body } = await lookUp(app.url, queryOf(fen));
    expect([status, body.code, body.next_action]).toEqual([404, "not_in_tablebase", "send_to_eval"]);
    expect(body.detail).toContain(words);
  });
});

describe("a service without tables", () => {
  const app = useApp({}, fakeEngines());

  test("a service without tables names the setting, and knows finished games", async () => {
    const { status, body } = await lookUp(app.url, queryOf(rookHangs));
    expect([status, body.code]).toEqual([404, "not_in_tablebase"]);
    expect(body.detail).toContain("KIBITZ_SYZYGY");
    const over = await lookUp(app.url, queryOf(mated));
    expect(over.body).toMatchObject({
      tablebase: { category: "loss", winner: "white", dtz_plies: 1 },
      moves: [],
    });
    expect((await get(`${app.url}/engines`)).body.tablebases).toBeNull();
  });
});

describe("tables that are not verified yet", () => {
  // A call waits for no verification, which takes longer than this.
  const app = useApp(settings, { ...fakeEngines(), tablesMaxWaitMs: 0 });

  test("a look-up that needs a table that is not verified is 503 with Retry-After, and a caller who then asks again gets the answer", async () => {
    const first = await lookUp(app.url, queryOf(rookHangs));
    expect([first.status, first.body.code, first.body.next_action]).toEqual([503, "starting", "retry_later"]);
    expect(first.headers.get("retry-after")).toBe("1");
    let { status, headers } = first;
    for (let asked = 1; status === 503 && asked < 5; asked++) {
      await setTimeout(1000 * Number(headers.get("retry-after")));
      ({ status, headers } = await lookUp(app.url, queryOf(rookHangs)));
    }
    expect(status).toBe(200);
  });
});

describe("tables that are missing or damaged", () => {
  const folder = useTemporaryFolder();
  const missing = join(folder, "nothing");
  for (const name of ["KQvK.rtbw", "KQvK.rtbz", "KRvK.rtbw", "KRvK.rtbz"]) {
    copyFileSync(join(tablesFolder, name), join(folder, name));
  }
  truncateSync(join(folder, "KQvK.rtbw"), 1000);
  const app = useApp({ KIBITZ_SYZYGY: `${missing}:${folder}` }, fakeEngines());
  beforeAll(() => verifyTablesOf(app.url));

  test("a folder that is missing is a warning at the start, and the tables of the other folder are used", async () => {
    expect(app.logged).toContainEqual(expect.objectContaining({ path: missing }));
    expect((await lookUp(app.url, queryOf(rookHangs))).status).toBe(200);
  });

  test("a damaged table is 404 without its path, and a line in the log", async () => {
    const { status, body } = await lookUp(app.url, queryOf("8/8/8/8/8/2k5/8/K6Q w - - 0 1"));
    expect([status, body.code]).toEqual([404, "not_in_tablebase"]);
    expect(body.detail).toContain("damaged");
    expect(body.detail).not.toContain(folder);
    expect(app.logged).toContainEqual(expect.objectContaining({ path: join(folder, "KQvK.rtbw") }));
    const { body: evaluation } = await post(`${app.url}/v1/eval`, {
      fen: "8/8/8/8/8/2k5/8/K6Q w - - 0 1",
      depth: 3,
    });
    expect(evaluation).toMatchObject({ tablebase: null, best_move: { uci: expect.any(String) } });
  });
});

describe("a table that is repaired", () => {
  const folder = useTemporaryFolder();
  for (const name of ["KRvK.rtbw", "KRvK.rtbz"]) {
    copyFileSync(join(tablesFolder, name), join(folder, name));
  }
  const results = join(folder, "KRvK.rtbw");
  truncateSync(results, 100);
  const app = useApp({ KIBITZ_SYZYGY: folder }, { ...fakeEngines(), tablesMaxWaitMs: 60_000 });

  test("the ETag of an evaluation covers what the endgame tables say, and a cached evaluation asks them anew", async () => {
    const message = JSON.stringify({ fen: rookHangs, depth: 5 });
    const query = new URLSearchParams({ connect: "v1", encoding: "json", message });
    const url = `${app.url}/chess.analysis.v1.AnalysisService/Evaluate?${query}`;
    const ask = (headers = {}) => fetch(url, { headers });
    const before = await ask();
    expect(await before.json()).not.toHaveProperty("tablebase");
    const known = { "If-None-Match": before.headers.get("etag") ?? "" };
    expect((await ask(known)).status).toBe(304);

    copyFileSync(join(tablesFolder, "KRvK.rtbw"), `${results}.new`);
    renameSync(`${results}.new`, results);
    const after = await ask(known);
    expect([after.status, await after.json()]).toMatchObject([
      200,
      { tablebase: { category: "TABLEBASE_CATEGORY_WIN" }, search: { cached: true } },
    ]);
    expect((await ask({ "If-None-Match": after.headers.get("etag") ?? "" })).status).toBe(304);
  });
});

describe("the limits of a plan", () => {
  const plansFile = usePlansFile({ id: "keyless", limits: { rates: [rateOf("burst", 3, 60)] } });
  const app = useApp({ ...settings, KIBITZ_ACCESS: "public", KIBITZ_PLANS: plansFile }, fakeEngines());

  test("a look-up counts as one request, whether a table knows the position or not", async () => {
    const statuses = [];
    for (const fen of [mated, "startpos", mated, mated]) {
      const { status, headers } = await lookUp(app.url, queryOf(fen));
      statuses.push([status, /r=(\d)/.exec(headers.get("ratelimit") ?? "")?.[1]]);
    }
    expect(statuses).toEqual([
      [200, "2"],
      [404, "1"],
      [200, "0"],
      [429, "0"],
    ]);
  });
});
