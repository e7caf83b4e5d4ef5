import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { createEnginesInProcess } from "../../support/engines-in-process.ts";
import { newAddress } from "../../support/new-caller.ts";
import { patienceMs } from "../../support/patience.ts";
import { rateOf, usePlansFile } from "../../support/plans-file.ts";
import { useApp } from "../../support/running-app.ts";
import { startFen } from "./cases/case.ts";
import { get, post } from "./post.ts";
import type { Plain } from "./protocol.ts";
import { type StreamClient, streamClients } from "./stream-clients.ts";
import { watchWork } from "./watch-work.ts";

const newCaller = () => ({
  "Content-Type": "application/json",
  "x-forwarded-for": newAddress(),
});

const engines = createEnginesInProcess();
const { expectWork, expectNoWork } = watchWork(engines);
const app = useApp(
  {
    KIBITZ_ACCESS: "public",
    KIBITZ_TRUST_PROXY: "127.0.0.1",
    KIBITZ_SLOTS: "2",
    KIBITZ_QUEUE_MAX_WAIT_MS: "60000",
    KIBITZ_PLANS: usePlansFile(
      {
        id: "keyless",
        limits: {
          depth_max: 30,
          movetime_ms_max: 1500,
          review_plies_max: 30,
          rates: [rateOf("minute", 40, 60)],
        },
      },
      { id: "free", limits: { movetime_ms_max: 1500 } },
    ),
  },
  { engines },
);
const never = new AbortController().signal;

/** Every move is a pawn move without a capture, so no position repeats. */
const pawns = [..."abcdefgh"].flatMap((file) => [`${file}3`, `${file}6`, `${file}4`, `${file}5`]);
const first = (plies: number) => pawns.slice(0, plies);
const review = (body: Plain, headers = newCaller()) => post(`${app.url}/v1/review`, body, headers);
const leftOf = ({ headers }: { readonly headers: Headers }) =>
  /r=(\d+)/.exec(headers.get("ratelimit") ?? "")?.[1];

const endless = { depth: 30 };

describe.each(streamClients)("$name", (kind) => {
  let client: StreamClient;
  beforeAll(() => {
    client = kind.open(app.url);
  });
  afterAll(() => client[Symbol.asyncDispose]());
  const fen = startFen.replace(/1$/, String(1 + streamClients.indexOf(kind)));

  test("a review stream has each move once in order, and then the complete review", async () => {
    const request = { fen, moves: ["e4", "e5", "Nf3"], depth: 3 };
    const events = await Array.fromAsync(client.stream("reviewGame", request, never));
    const moves = events.flatMap(({ move }) => (move ? [move] : []));
    expect(moves).toMatchObject([{ ply: 1 }, { ply: 2 }, { ply: 3, move: { san: "Nf3" } }]);
    expect(events.at(-1)).toMatchObject({ review: { moves, search: { positions: 4, deterministic: true } } });
    expect(events.map((event) => Object.keys(event)[0])).toEqual(["move", "move", "move", "review"]);
  });

  test("the engines of a review are free after the client has disconnected", async () => {
    const leave = new AbortController();
    const reading = Array.fromAsync(
      client.stream("reviewGame", { fen, moves: ["d4", "d5"], ...endless }, leave.signal),
    ).catch(() => undefined);
    await expectWork();
    leave.abort();
    await reading;
    await expectNoWork();
  });
});

test("a repeated review runs no engine and differs only in its id, its counters and its times", async () => {
  const request = { pgn: "1. e4 e5 2. Bc4 Nc6 3. Qh5 Nf6 4. Qxf7#", depth: 4, lines: 2 };
  const first = await review(request);
  const { begun } = engines;
  const second = await review(request);
  expect(engines.begun).toBe(begun);
  const lasting = ({ id: _, search, ...rest }: Plain) => {
    const { searched: _s, cached: _c, nodes: _n, time_ms: _t, ...same } = search as Plain;
    return JSON.stringify({ ...rest, search: same });
  };
  expect(lasting(second.body)).toBe(lasting(first.body));
  expect(second.body.search).toMatchObject({ positions: 7, searched: 0, cached: 7, nodes: 0, time_ms: 0 });
  expect(second.body.id).not.toBe(first.body.id);
});

test("the evaluated positions of a review stay cached after the client has disconnected", async () => {
  const leave = new AbortController();
  const request = { moves: ["a3", "a6", "b3"], depth: 5 };
  const response = await fetch(`${app.url}/v1/review`, {
    method: "POST",
    headers: { ...newCaller(), Accept: "application/x-ndjson" },
    body: JSON.stringify(request),
    signal: leave.signal,
  });
  const reader = response.body?.getReader();
  expect(new TextDecoder().decode((await reader?.read())?.value)).toMatch(/^\{"move":\{"ply":1,/);
  leave.abort();
  await vi.waitFor(() => expect(engines.searching).toBe(0), patienceMs);
  const { body } = await review(request);
  expect((body.search as { cached: number }).cached).toBeGreaterThanOrEqual(2);
});

describe("the cost of a review", () => {
  test("a review counts as one request for every ten evaluated positions", async () => {
    const caller = newCaller();
    const answers = [
      await review({ moves: first(9), depth: 2 }, caller),
      await review({ moves: first(10), depth: 2 }, caller),
      // The final position is mate and needs no evaluation.
      await review({ moves: ["f3", "e5", "g4", "Qh4"], depth: 2 }, caller),
    ];
    expect(answers.map(leftOf)).toEqual(["39", "37", "36"]);
  });

  test("a review without positions to evaluate counts as one request", async () => {
    const kings = { fen: "4k3/8/8/8/8/8/8/4K3 w - - 0 1", moves: ["Kd2", "Kd7"] };
    const answer = await review(kings);
    expect(answer.body).toMatchObject({ engine: null, search: { positions: 0, searched: 0 } });
    expect(leftOf(answer)).toBe("39");
  });

  test("a review above the rate limit does not count as a request, and the error has a retry time", async () => {
    const caller = newCaller();
    const ask = (plies: number) => review({ moves: first(plies), depth: 1 }, caller);
    for (let time = 0; time < 9; time++) {
      await ask(30);
    }
    expect(leftOf(await ask(20))).toBe("1");
    const refused = await ask(25);
    expect([refused.status, leftOf(refused)]).toEqual([429, "1"]);
    expect(refused.body).toMatchObject({
      code: "rate_limited",
      detail: expect.stringMatching(
        /^This review counts for 3 requests, and fewer are left of the 40 in this window\./,
      ),
      retry_after_ms: expect.any(Number),
    });
    expect(leftOf(await ask(9))).toBe("0");
  });
});

test("a review whose searches reach the time limit has a warning and uses the engine time of all searches", async () => {
  const { body: key } = await post(`${app.url}/v1/keys`, {});
  const headers = { ...newCaller(), Authorization: `Bearer ${key.key}` };
  const { body } = await review({ moves: ["c4"], depth: 22 }, headers);
  expect(body).toMatchObject({
    search: { searched: 2, deterministic: false, limits: { depth: 22, nodes: null } },
    warnings: [{ code: "time_limited", field: null }],
  });
  const { time_ms: timeMs } = body.search as { time_ms: number };
  expect(timeMs).toBeGreaterThan(2 * 1400);
  const own = await get(`${app.url}/v1/keys/self`, { headers: { Authorization: headers.Authorization } });
  expect(own.body.remaining).toEqual(
    expect.arrayContaining([expect.objectContaining({ name: "engine-day", remaining: 3_600_000 - timeMs })]),
  );
});

describe("a game that is longer than the plan allows", () => {
  test("a list of moves that is longer than the plan allows is refused, and a shorter list is suggested", async () => {
    const { status, body } = await review({ moves: first(31), depth: 1 });
    expect(status).toBe(402);
    expect(body).toMatchObject({
      code: "upgrade_needed",
      detail: "Keyless calls may ask for reviews of up to 30 plies; this request asks for 31.",
      errors: [{ pointer: "/moves", allowed: { minItems: 1, maxItems: 30 } }],
      suggested_request: { moves: first(30), depth: 1 },
      upgrade: { plan: "free" },
    });
  });

  test("a PGN that is longer than the plan allows is refused, and the suggested shorter PGN works", async () => {
    const pgn = first(32)
      .map((move, ply) => (ply % 2 === 0 ? `${ply / 2 + 1}. ${move} {one}` : `${move} (Nc6)`))
      .join("\n");
    const { status, body } = await review({ pgn, depth: 1 });
    expect([status, body.next_action]).toEqual([402, "get_api_key"]);
    const answered = await review(body.suggested_request as Plain);
    expect(answered.status).toBe(200);
    expect(answered.body.moves).toHaveLength(30);
  });
});

describe("a game that is too large", () => {
  test("an error about a PGN that is too large points to the field of the PGN", async () => {
    const { status, body } = await review({ pgn: `1. e4 {${"é".repeat(131_100)}}` });
    expect([status, body.code]).toEqual([400, "out_of_range"]);
    expect(body.detail).toMatch(/^`pgn` must have at most 262144 bytes, not 262\d{3}\.$/);
    expect(body.errors).toMatchObject([{ pointer: "/pgn" }]);
  });

  test("a body that is too large is refused before it is read", async () => {
    const { status, body } = await review({ pgn: "x".repeat(512 * 1024) });
    expect([status, body.code]).toEqual([413, "body_too_large"]);
    expect(body.detail).toContain("524288");
  });
});
