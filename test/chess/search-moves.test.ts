import { Chess } from "chess.js";
import { expect, test } from "vitest";
import { readSearchMoves } from "../../src/chess/search-moves.ts";
import { positionOf, startFen } from "./validated.ts";

const twoKnights = "4k3/8/8/8/8/5N2/8/1N2K3 w - - 0 1";
const bothCastle = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1";
/** A position with 218 legal moves. No position with more legal moves is known. */
const mostMoves = "R6R/3Q4/1Q4Q1/4Q3/2Q4Q/Q4Q2/pp1Q4/kBNN1KB1 w - - 0 1";

const ucisOf = (fen: string, texts: readonly string[], chess960 = false) => {
  const reading = readSearchMoves(positionOf(fen, { chess960 }), texts);
  return reading.kind === "moves" ? reading.ucis : expect.fail(reading.violations[0]?.message);
};
const violationsOf = (fen: string, texts: readonly string[], chess960 = false) => {
  const reading = readSearchMoves(positionOf(fen, { chess960 }), texts);
  return reading.kind === "violations"
    ? reading.violations
    : expect.fail(`read as ${reading.ucis.join(" ")}`);
};

test("an empty list of moves to search allows all moves", () => {
  expect(ucisOf(startFen, [])).toEqual([]);
});

test("moves to search are accepted in UCI and SAN, and written in a fixed order without duplicates", () => {
  expect(ucisOf(startFen, ["Nf3", "e4", "d2d4", "g1f3", "Ngf3", "e2e4"])).toEqual(["d2d4", "e2e4", "g1f3"]);
});

test.each(["e1g1", "e1h1", "O-O", "0-0"])(
  "castling by %s in the moves to search is converted to the notation that the engine expects",
  (move) => {
    expect(ucisOf(bothCastle, [move])).toEqual(["e1g1"]);
    expect(ucisOf(bothCastle, [move], true)).toEqual(["e1h1"]);
  },
);

test.each(["O-O", "0-0", "e1g1"])(
  "an error for %s in the moves to search says that its castling right was removed",
  (move) => {
    const fen = "r3k2r/8/8/8/8/8/8/R4K1R w KQkq - 0 1";
    const removed = "Castling rights KQ were removed: the king or the rook is not in its place";
    expect(violationsOf(fen, [move, "Kf8"]).map(({ message }) => message.includes(removed))).toEqual([
      true,
      false,
    ]);
  },
);

test("moves to search are read in the position after the moves of the request", () => {
  const reading = readSearchMoves(positionOf(startFen, { moves: ["e4"] }), ["e5"]);
  expect(reading).toEqual({ kind: "moves", ucis: ["e7e5"] });
});

test.each([
  startFen,
  bothCastle,
  mostMoves,
  "4k3/P7/8/8/8/8/8/4K3 w - - 0 1",
  "rnbqkbnr/ppp1p1pp/8/3pPp2/8/8/PPPP1PPP/RNBQKBNR w KQkq f6 0 3",
])("all legal moves are accepted as moves to search: %s", (fen) => {
  const all = new Chess(fen).moves({ verbose: true });
  const ucis = all.map(({ lan }) => lan).toSorted();
  expect(ucisOf(fen, ucis)).toEqual(ucis);
  expect(
    ucisOf(
      fen,
      all.map(({ san }) => san),
    ),
  ).toEqual(ucis);
  expect(violationsOf(fen, ["a1a1"])[0]?.legal).toEqual(ucis);
});

test("the violation of an illegal move to search contains the index, the position and the legal moves", () => {
  const [violation, ...others] = violationsOf("8/8/8/8/8/4k3/8/4K3 w - - 0 1", ["Kd1", "Kf5", "e1f1"]);
  expect(others).toEqual([]);
  expect(violation).toEqual({
    index: 1,
    message:
      "'Kf5' is not a legal move for White (search_moves[1], in the position 8/8/8/8/8/4k3/8/4K3 w - - 0 1).",
    legal: ["e1d1", "e1f1"],
  });
});

test("every illegal move to search is refused, and at most 20 have a violation", () => {
  expect(violationsOf(startFen, ["e5", "e4", "Ke2"]).map(({ index }) => index)).toEqual([0, 2]);
  expect(violationsOf(startFen, Array(218).fill("Ke2"))).toHaveLength(20);
});

test("an ambiguous move to search is refused, and the violation lists the moves of both pieces", () => {
  expect(violationsOf(twoKnights, ["Nd2"])).toEqual([
    {
      index: 0,
      message: `'Nd2' matches more than one legal move for White: b1d2, f3d2 (search_moves[0], in the position ${twoKnights}).`,
      legal: ["b1d2", "f3d2"],
    },
  ]);
});

test("every move to search is refused after the end of the game", () => {
  expect(violationsOf("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", ["Kg8"])).toEqual([
    {
      index: 0,
      message:
        "'Kg8' is not a legal move for Black (search_moves[0], in the position 7k/5Q2/6K1/8/8/8/8/8 b - - 0 1). The game is over: there is none.",
      legal: [],
    },
  ]);
});

test.each(["", "e2e5", "e2e4\nquit", "0000", "N@f3", "E2E4", "constructor"])(
  "the text %j is refused as a move to search",
  (text) => {
    expect(violationsOf(startFen, [text])).toHaveLength(1);
  },
);

test("a king move of two squares is refused as a move to search in Chess960", () => {
  const fen = "4k3/8/8/8/8/8/8/5K1R w H - 0 1";
  expect(ucisOf(fen, ["f1h1", "O-O"], true)).toEqual(["f1h1"]);
  expect(violationsOf(fen, ["f1d1"], true)).toHaveLength(1);
});
