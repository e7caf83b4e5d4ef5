import { expect, test } from "vitest";
import { readCommand } from "../../../src/cli/uci/read-command.ts";

const goOf = (line: string) => {
  const command = readCommand(line);
  return command?.kind === "go" ? command.go : expect.fail(`read as ${command?.kind}`);
};

test.each(["uci", "isready", "stop", "ponderhit", "quit"])("the UCI command %s is read", (word) => {
  expect(readCommand(word)).toEqual({ kind: word });
  expect(readCommand(`  ${word}\r`)).toEqual({ kind: word });
});

test("unknown words before a UCI command are skipped, and a line without a command is ignored", () => {
  expect(readCommand("joho isready")).toEqual({ kind: "isready" });
  for (const line of ["", "d", "eval", "ucinewgame", "debug on", "register later", "joho 1 2 3"]) {
    expect(readCommand(line)).toBeUndefined();
  }
});

test.each([
  ["setoption name Skill Level value 5", "Skill Level", "5"],
  ["setoption name Clear Hash", "Clear Hash", undefined],
  ["setoption name SyzygyPath value /a b/c", "SyzygyPath", "/a b/c"],
  ["setoption name Book value", "Book", ""],
  ["setoption", "", undefined],
])("the line %j is read as an option and its value", (line, name, value) => {
  expect(readCommand(line)).toEqual({ kind: "setoption", name, value });
});

test("the command position is read with a FEN or with startpos, and with or without moves", () => {
  const fen = "8/8/8/8/8/4k3/8/4K2R w K - 0 1";
  expect(readCommand("position startpos")).toEqual({ kind: "position", fen: "startpos", moves: [] });
  expect(readCommand("position startpos moves e2e4 e7e5")).toMatchObject({ moves: ["e2e4", "e7e5"] });
  expect(readCommand(`position fen ${fen} moves e1g1`)).toEqual({ kind: "position", fen, moves: ["e1g1"] });
});

test.each(["position", "position moves e2e4", `position ${"8/".repeat(8)} w`])(
  "the invalid command %s is not read as the start position",
  (line) => {
    const command = readCommand(line);
    expect(command).toMatchObject({ kind: "position" });
    expect(command).not.toMatchObject({ fen: "startpos" });
  },
);

const middle = "4k3/8/8/8/8/8/4P3/4K3 w - -";
const long = "r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 3";

test.each([
  ["startpos e2e4 e7e5", "e2e4", "startpos moves e2e4 e7e5"],
  ["startpos e4", "e4", "startpos moves e4"],
  ["e2e4 e7e5", "e2e4", "startpos moves e2e4 e7e5"],
  ["startpos e2e4 moves e7e5", "e2e4", "startpos moves e2e4"],
  [`fen ${middle} 0 1 e2e4`, "e2e4", `fen ${middle} 0 1 moves e2e4`],
  [`fen ${middle} 0 1 e4`, "e4", `fen ${middle} 0 1 moves e4`],
  [`fen ${middle} e2e4 e8e7`, "e2e4", `fen ${middle} moves e2e4 e8e7`],
  [`fen ${long} g8f6`, "g8f6", `fen ${long} moves g8f6`],
  [`${middle} a7a8Q`, "a7a8Q", `fen ${middle} moves a7a8Q`],
])("the missing keyword moves is recognized in: position %s", (line, first, meant) => {
  expect(readCommand(`position ${line}`)).toMatchObject({
    misplaced: `the word moves is missing before ${first}; write: position ${meant}`,
  });
});

test("the command go without parameters sets no limits", () => {
  expect(goOf("go")).toEqual({
    clocks: { white: { incrementMs: 0 }, black: { incrementMs: 0 } },
    hasClock: false,
    searchMoves: [],
    infinite: false,
    ponder: false,
    notes: [],
  });
});

test.each([
  ["perft 2", "go perft is not supported: the position is searched instead"],
  ["depth", "go depth needs a whole number, and has no effect without it"],
  ["depth x", "go depth needs a whole number, not 'x', and has no effect without it"],
  ["mate wtime 100", "go mate needs a whole number, and has no effect without it"],
  ["nodes 1e6", "go nodes needs a whole number, not '1e6', and has no effect without it"],
])("go %s gets a message that a part of the command has no effect", (parameters, note) => {
  expect(goOf(`go ${parameters}`).notes).toEqual([note]);
});

test("the parameters of go are read in any order", () => {
  expect(goOf("go nodes 5000 searchmoves e2e4 d2d4 depth 12 movetime 300 mate 3 infinite")).toMatchObject({
    depth: 12,
    nodes: 5000,
    movetimeMs: 300,
    mate: 3,
    searchMoves: ["e2e4", "d2d4"],
    infinite: true,
    ponder: false,
  });
});

test("the clocks of go are read, even if they are negative", () => {
  expect(goOf("go ponder wtime -20 btime 60000 winc 100 binc 200 movestogo 12")).toMatchObject({
    ponder: true,
    movesToGo: 12,
    hasClock: true,
    clocks: {
      white: { leftMs: -20, incrementMs: 100 },
      black: { leftMs: 60_000, incrementMs: 200 },
    },
  });
});

test.each(["go depth", "go depth deep", "go depth 3.5"])("the command %s sets no depth", (line) => {
  expect(goOf(line).depth).toBeUndefined();
});
