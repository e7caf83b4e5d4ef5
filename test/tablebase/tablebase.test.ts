import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { Position } from "../../src/chess/position.ts";
import type { TableMove } from "../../src/tablebase/results.ts";
import { openTablebase, type Tablebase } from "../../src/tablebase/tablebase.ts";
import { positionOf } from "../chess/validated.ts";
import { patienceMs } from "../support/patience.ts";

const folder = fileURLToPath(new URL("tables", import.meta.url));
let tablebase: Tablebase;

beforeAll(async () => {
  tablebase = await openTablebase([folder]);
});

afterAll(() => tablebase[Symbol.asyncDispose]());

/** Kings and a queen: a win in 11 plies by python-chess. */
const queenWins = "8/8/8/8/8/2k5/8/K6Q w - - 0 1";

async function probed(fen: string, moves: readonly string[] = []) {
  const answer = await tablebase.probe(positionOf(fen, { moves }));
  return answer.kind === "known" ? answer.value : { reason: answer.reason };
}

async function movesOf(fen: string, moves: readonly string[] = []): Promise<readonly TableMove[]> {
  const answer = await tablebase.probeMoves(positionOf(fen, { moves }));
  return answer.kind === "known" ? answer.value.moves : expect.fail(answer.message);
}

const withClock = (fen: string, clock: number) => fen.replace(/ 0 1$/, ` ${clock} 80`);

test("the summary says how many tables there are, and its digest stands for their content", async () => {
  const summary = tablebase.summary();
  expect(summary).toEqual({ men: 3, tables: 5, digest: expect.stringMatching(/^[0-9a-f]{64}$/) });
  await using again = await openTablebase([folder, folder]);
  expect(again.summary()).toEqual(summary);
});

describe("a position with few men", () => {
  test.each([
    [queenWins, "win", "white", 11],
    ["8/8/8/3k4/8/8/8/K6R w - - 0 1", "win", "white", 29],
    ["8/8/8/3K4/8/8/8/k6r b - - 0 1", "win", "black", 29],
    ["8/1P6/8/3k4/8/8/8/K7 w - - 0 1", "win", "white", 1],
    ["8/8/8/8/4k3/8/4P3/4K3 b - - 0 1", "draw", undefined, undefined],
    ["8/8/8/8/8/1k6/8/KB6 w - - 0 1", "draw", undefined, undefined],
  ])("%s is a %s", async (fen, category, winner, dtzPlies) => {
    expect(await probed(fen)).toEqual({ category, winner, dtzPlies, men: 3 });
  });

  test("bare kings are a draw without a table", async () => {
    expect(await probed("8/8/8/8/8/1k6/8/K7 w - - 0 1")).toMatchObject({ category: "draw", men: 2 });
  });

  test.each([
    ["k7/1Q6/1K6/8/8/8/8/8 b - - 0 1", "loss", "white"],
    ["k7/1Q6/1K6/8/8/8/8/8 b - - 100 90", "loss", "white"],
    ["k7/8/1Q6/8/8/8/8/K7 b - - 0 1", "draw", undefined],
  ])("the finished game %s is a %s and has no moves", async (fen, category, winner) => {
    const answer = await tablebase.probeMoves(positionOf(fen));
    expect(answer).toMatchObject({ kind: "known", value: { result: { category, winner }, moves: [] } });
  });
});

describe("a position that the tables do not know", () => {
  test.each([
    ["8/8/8/8/8/2k5/7q/K5QR w - - 0 1", "too_many_men"],
    ["4k3/8/8/8/8/8/8/4K2R w K - 0 1", "castling_rights"],
  ])("%s is the miss %s, without a look at a file", async (fen, reason) => {
    expect(await probed(fen)).toEqual({ reason });
    expect(tablebase.mayKnow(positionOf(fen))).toBe(false);
  });

  test("a table that a capture needs, and that is missing, is a miss", async () => {
    await using none = await openTablebase([]);
    expect(none.summary()).toBeUndefined();
    expect(await none.probe(positionOf(queenWins))).toMatchObject({ kind: "miss", reason: "too_many_men" });
  });
});

describe("the half-move clock", () => {
  test.each([
    [88, "win", "white"],
    [89, "cursed_win", undefined],
    [90, "cursed_win", undefined],
  ])("with the clock at %i, a win in 11 plies is a %s", async (clock, category, winner) => {
    expect(await probed(withClock(queenWins, clock))).toMatchObject({ category, winner, dtzPlies: 11 });
  });

  test.each([
    ["a checkmate on the board", "k7/8/1K6/8/8/8/8/7R w - - 0 1"],
    ["a pawn move that wins", "8/1P6/8/3k4/8/8/8/K7 w - - 0 1"],
  ])("with the clock at 99, %s still wins, and with 100 no longer", async (_, fen) => {
    expect(await probed(withClock(fen, 99))).toMatchObject({ category: "win", dtzPlies: 1 });
    expect(await probed(withClock(fen, 100))).toMatchObject({ category: "cursed_win" });
  });

  test("the side that loses is saved if its distance reaches 100 exactly", async () => {
    const fen = "8/8/8/3k4/8/8/8/K6R b - - 0 1";
    const { dtzPlies = 0 } = (await probed(fen)) as { dtzPlies?: number };
    expect(dtzPlies).toBeGreaterThan(20);
    expect(await probed(withClock(fen, 99 - dtzPlies))).toMatchObject({ category: "loss" });
    expect(await probed(withClock(fen, 100 - dtzPlies))).toMatchObject({ category: "blessed_loss" });
  });
});

describe("the moves of a position", () => {
  test("a checkmate is first, with its SAN, and is lost for the other side", async () => {
    const [best] = await movesOf("k7/8/1K6/8/8/8/8/7R w - - 0 1");
    expect(best).toEqual({
      ...{ uci: "h1h8", san: "Rh8#", category: "loss", dtzPlies: 1 },
      ...{ zeroing: false, checkmate: true, stalemate: false, repetition: false },
    });
  });

  test("a pawn move that wins is before other moves, and a stalemate is a draw", async () => {
    const moves = await movesOf("8/1P6/8/3k4/8/8/8/K7 w - - 0 1");
    expect(moves.slice(0, 2).map(({ san, zeroing }) => [san, zeroing])).toEqual([
      ["b8=Q", true],
      ["b8=R", true],
    ]);
    const stalemate = (await movesOf("k7/8/8/1Q6/8/8/8/K7 w - - 0 1")).find(({ uci }) => uci === "b5b6");
    expect(stalemate).toMatchObject({ category: "draw", dtzPlies: undefined, stalemate: true });
  });

  test("moves are in the order win, draw, loss; wins from the shortest, losses from the longest", async () => {
    const wins = await movesOf(queenWins);
    const winning = wins.filter(({ category }) => category === "loss").map(({ dtzPlies = 0 }) => dtzPlies);
    expect(winning).toEqual(winning.toSorted((a, b) => a - b));
    expect(wins.slice(0, winning.length).every(({ category }) => category === "loss")).toBe(true);

    const losing = (await movesOf("8/8/8/3k4/8/8/8/K6R b - - 0 1")).map(({ dtzPlies = 0 }) => dtzPlies);
    expect(losing).toEqual(losing.toSorted((a, b) => b - a));
  });

  test("if the best move would be the third occurrence of a position, another winning move is first", async () => {
    const start = "8/8/8/3k4/8/8/8/K6R w - - 0 1";
    const [first] = await movesOf(start);
    const best = first?.uci ?? "";
    // Both sides go back and forth, so that the position after the best move has occurred twice.
    const after = positionOf(start, { moves: [best] });
    const black = after.turn === "black" ? "d5d6" : "";
    const back = `${best.slice(2)}${best.slice(0, 2)}`;
    const round = [best, black, back, "d6d5"];
    const moves = await movesOf(start, [...round, ...round]);
    expect(moves[0]?.uci).not.toBe(best);
    expect(moves[0]).toMatchObject({ category: "loss", repetition: false });
    expect(moves.find(({ uci }) => uci === best)).toMatchObject({ repetition: true });
  });
});

describe("a winning move after a repetition", () => {
  const start = "8/8/8/3k4/8/8/8/K6R w - - 0 1";
  const round = ["h1h2", "d5d4", "h2h1", "d4d5"];

  async function betterMove(fen: string, moves: readonly string[], uci: string) {
    const answer = await tablebase.compareMoves(positionOf(fen, { moves }), { category: "win" })(uci);
    return answer.kind === "known" ? answer.value : expect.fail(answer.message);
  }

  test("a move after which the opponent can repeat a position for the third time gives the win away", async () => {
    const moves = [...round, "h1h2", "d5e5"];
    expect(positionOf(start, { moves: [...moves, "h2h1", "e5d5"] }).drawClaim).toBe("threefold_repetition");
    const better = await betterMove(start, moves, "h2h1");
    expect(better).toMatch(/^[a-h][1-8]/);
    expect(better).not.toBe("h2h1");
  });

  test("a move that is not the shortest way is replaced, because repetitions could leave no way", async () => {
    expect(await betterMove(start, [], "h1h2")).toBeUndefined();
    const better = await betterMove(start, round, "h1h2");
    expect(better).toBeDefined();
    expect(await betterMove(start, round, better ?? "")).toBeUndefined();
  });

  test("the moves are ranked once, however many of them are compared", async () => {
    let turns = 0;
    const turn = async () => void turns++;
    const compare = tablebase.compareMoves(
      positionOf(start, { moves: round }),
      { category: "win" },
      { turn },
    );
    const first = await compare("h1h2");
    const turnsOfOne = turns;
    expect(turnsOfOne).toBeGreaterThan(20);
    for (let count = 0; count < 10; count++) {
      expect(await compare("h1h2")).toEqual(first);
    }
    expect(turns).toBe(turnsOfOne);
  });

  test.each([
    [start],
    ["8/8/8/8/8/2k5/8/K6Q w - - 0 1"],
    ["8/8/4k3/8/4K3/8/4P3/8 w - - 0 1"],
    ["8/8/8/3k4/8/8/8/K6R w - - 70 90"],
  ])("wins, although both sides want to repeat positions: %s", async (fen) => {
    expect(await probed(fen)).toMatchObject({ category: "win", winner: "white" });
    const moves: string[] = [];
    const seen = new Map<string, number>();
    const seenAfter = (uci: string) => seen.get(keyOf(positionOf(fen, { moves: [...moves, uci] }))) ?? 0;
    for (;;) {
      const position = positionOf(fen, { moves });
      seen.set(keyOf(position), (seen.get(keyOf(position)) ?? 0) + 1);
      if (position.terminal) {
        expect(position.terminal).toMatchObject({ reason: "checkmate", winner: "white" });
        return;
      }
      expect(position.drawClaim, `${position.fen} after ${moves.join(" ")}`).toBeUndefined();
      const legal = (await movesOf(fen, moves)).map(({ uci }) => uci);
      const [most = ""] = legal.toSorted((one, other) => seenAfter(other) - seenAfter(one));
      moves.push(position.turn === "black" ? most : ((await betterMove(fen, moves, most)) ?? most));
    }
  });
});

/** The same for equal positions. */
const keyOf = ({ fen }: Position) => fen.split(" ").slice(0, 4).join(" ");

test("a signal that is aborted before the tables are verified makes a miss, and a later probe succeeds", async () => {
  await using fresh = await openTablebase([folder]);
  const position = positionOf(queenWins);
  const signal = AbortSignal.abort();
  expect(await fresh.probe(position, { signal })).toMatchObject({ kind: "miss", reason: "unverified_table" });
  expect(await fresh.probe(position)).toMatchObject({ kind: "known", value: { category: "win" } });
  expect(await fresh.probe(position, { signal })).toMatchObject({ kind: "known" });
});

test("after a miss because tables are not verified, all tables that the position needs are verified", async () => {
  await using fresh = await openTablebase([folder]);
  // The pawn can become each piece, so the moves need every table.
  const position = positionOf("8/P7/8/8/4k3/8/8/K7 w - - 0 1");
  const signal = AbortSignal.abort();
  const unverified = { kind: "miss", reason: "unverified_table" };
  expect(await fresh.probeMoves(position, { signal })).toMatchObject({ ...unverified, verifyingMs: 0 });
  let asked = 0;
  await vi.waitFor(async () => {
    const answer = await fresh.probeMoves(position, { signal });
    asked++;
    expect(answer).toMatchObject({ kind: "known", value: { result: { category: "win" } } });
  }, patienceMs);
  expect(asked).toBeGreaterThan(0);
});

test("a probe of all moves gives way to other work between moves", async () => {
  let turns = 0;
  await tablebase.probeMoves(positionOf(queenWins), {
    async turn() {
      turns++;
    },
  });
  expect(turns).toBeGreaterThan(20);
});
