import { expect, test } from "vitest";
import { readCommand } from "../../../src/cli/uci/read-command.ts";

const noClocks = {
  white: { leftMs: undefined, incrementMs: 0 },
  black: { leftMs: undefined, incrementMs: 0 },
};
const go = (line: string) => {
  const command = readCommand(line);
  return command.kind === "go" ? command : expect.fail(`read as ${command.kind}`);
};

test.each(["uci", "isready", "ucinewgame", "stop", "ponderhit", "quit"])(
  "the UCI command %s is read",
  (word) => {
    expect(readCommand(word)).toEqual({ kind: word });
    expect(readCommand(`  ${word}\r`)).toEqual({ kind: word });
  },
);

test("unknown words before a UCI command are skipped", () => {
  for (const line of ["", "d", "eval", "register later", "joho 1 2 3"]) {
    expect(readCommand(line)).toEqual({ kind: "ignored" });
  }
  expect(readCommand("joho debug on")).toEqual({ kind: "debug", on: true });
  expect(readCommand("debug off")).toEqual({ kind: "debug", on: false });
});

test.each([
  ["setoption name Skill Level value 5", "Skill Level", "5"],
  ["setoption name Clear Hash", "Clear Hash", undefined],
  ["setoption name SyzygyPath value /a b/c", "SyzygyPath", "/a b/c"],
  ["setoption name Book value", "Book", ""],
])("setoption %s is read as an option and its value", (line, name, value) => {
  expect(readCommand(line)).toEqual({ kind: "setoption", name, value });
});

test("setoption without a name is refused", () => {
  for (const line of ["setoption", "setoption name", "setoption name value 3"]) {
    expect(readCommand(line).kind).toBe("refused");
  }
});

test("position is read as a FEN or startpos, and moves", () => {
  const fen = "8/8/8/8/8/4k3/8/4K2R w K - 0 1";
  expect(readCommand("position startpos")).toEqual({ kind: "position", fen: "startpos", moves: [] });
  expect(readCommand("position startpos moves e2e4 e7e5")).toMatchObject({ moves: ["e2e4", "e7e5"] });
  expect(readCommand(`position fen ${fen} moves e1g1`)).toEqual({ kind: "position", fen, moves: ["e1g1"] });
});

test.each(["position", "position moves e2e4", `position ${"8/".repeat(8)} w`])(
  "position %s cannot be read, and is not taken for the start",
  (line) => {
    const command = readCommand(line);
    expect(command).toMatchObject({ kind: "position" });
    expect(command).not.toMatchObject({ fen: "startpos" });
  },
);

test("go alone has no limits", () => {
  expect(go("go")).toEqual({
    kind: "go",
    go: { clocks: noClocks, searchMoves: [], infinite: false, ponder: false },
    complaints: [],
  });
});

test("go has its limits in any order", () => {
  expect(go("go nodes 5000 depth 12 movetime 300 mate 3").go).toMatchObject({
    depth: 12,
    nodes: 5000,
    movetimeMs: 300,
    mate: 3,
  });
  expect(go("go infinite").go).toMatchObject({ infinite: true, ponder: false });
});

test("go has clocks, also those that have run out", () => {
  expect(go("go ponder wtime -20 btime 60000 winc 100 binc 200 movestogo 12").go).toMatchObject({
    ponder: true,
    movesToGo: 12,
    clocks: {
      white: { leftMs: -20, incrementMs: 100 },
      black: { leftMs: 60_000, incrementMs: 200 },
    },
  });
});

test("go searchmoves has moves up to the next keyword of go", () => {
  expect(go("go searchmoves e2e4 d2d4 depth 5").go).toMatchObject({
    searchMoves: ["e2e4", "d2d4"],
    depth: 5,
  });
});

test.each(["go depth", "go depth deep", "go depth 3.5"])("go %s is reported, and has no depth", (line) => {
  const { go: read, complaints } = go(line);
  expect(read.depth).toBeUndefined();
  expect(complaints).toEqual(["go depth needs a whole number: it is passed over"]);
});

test("go perft is refused: kibitz uci counts no positions", () => {
  expect(readCommand("go perft 5").kind).toBe("refused");
});
