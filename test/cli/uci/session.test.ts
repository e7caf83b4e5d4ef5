import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { Bound, StopReason } from "../../../gen/chess/analysis/v1/analysis_pb.ts";
import { KibitzError } from "../../../src/errors/errors.ts";
import { giveClockBack, takeClock } from "../../engine/clock.ts";
import { centipawns, done, gameOver, mateIn, notesOf, stateOf, talk } from "./talk.ts";

beforeEach(takeClock);
afterEach(giveClockBack);

describe("the greeting", () => {
  test("the UCI greeting contains the names of Kibitz and of the engine, and the options", async () => {
    const heard = await talk().hear("uci");
    expect(heard.slice(0, 2)).toEqual([
      "id name Kibitz 1.2.3 (Stockfish 19)",
      "id author the Kibitz authors; the Stockfish developers",
    ]);
    expect(heard.filter((line) => line.startsWith("option name "))).toHaveLength(10);
    expect(heard.at(-1)).toBe("uciok");
  });
});

describe("an engine without depth", () => {
  test.each([
    ["go depth 5", { multipv: 1 }, "its default limit ends the search"],
    ["go depth 5 nodes 7", { multipv: 1, nodes: 7n }, "only the other limits count"],
    ["go depth 5 movetime 900", { nodes: 1_000_000_000n, movetimeMs: expect.any(Number) }, "only the other"],
    ["go depth 5 infinite", { nodes: 1_000_000_000n, movetimeMs: 60_000 }, "only the other limits count"],
  ])("%s sends no depth, and an info string says which limits count", async (command, limits, words) => {
    const { hear, last } = talk({ hasDepth: false });
    expect(notesOf(await hear(command))).toEqual([
      expect.stringContaining(`go depth 5: this engine does not search by depth, so ${words}`),
    ]);
    expect(last().request).toMatchObject(limits);
    expect(last().request).not.toHaveProperty("depth");
    if (command === "go depth 5") {
      expect(last().request).not.toHaveProperty("nodes");
      expect(last().request).not.toHaveProperty("movetimeMs");
    }
  });
});

describe("a request", () => {
  test("a UCI search sends the position, the moves, the limits and the options to the service", async () => {
    const { hear, last } = talk();
    await hear(
      "setoption name MultiPV value 3",
      "setoption name Skill Level value 4",
      "position startpos moves e2e4 e7e5 g1f3",
      "go depth 9 nodes 4000 searchmoves g8f6 b8c6",
    );
    expect(last().request).toEqual({
      fen: "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2",
      moves: ["g1f3"],
      depth: 9,
      nodes: 4000n,
      multipv: 3,
      searchMoves: ["g8f6", "b8c6"],
      options: { skill_level: 4 },
    });
  });

  test("a UCI search in Chess960 reads and writes castling as king takes rook", async () => {
    const { hear, last } = talk();
    await hear(
      "setoption name UCI_Chess960 value true",
      "position fen r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1 moves e1h1",
      "go depth 5",
    );
    expect(last().request).toMatchObject({ moves: ["e1h1"], options: { uci_chess960: true } });
    last().find(done(5, ["e8a8"]));
    expect((await hear()).at(-1)).toBe("bestmove e8a8");
  });

  test("a UCI search after more than 600 moves sends only the last moves", async () => {
    const { hear, last } = talk();
    const shuffle = ["g1f3", "g8f6", "f3g1", "f6g8"];
    const moves = [...Array(151)].flatMap((_, round) => [
      ...shuffle,
      ...(round % 30 === 29 ? pawnsOf(round) : []),
    ]);
    await hear(`position startpos moves ${moves.join(" ")}`, "go depth 2");
    expect(moves.length).toBeGreaterThan(600);
    expect(last().request.moves.length).toBeLessThan(150);
    expect(last().request.fen).toContain(" w ");
  });

  test("a UCI search ignores illegal moves in searchmoves, with a note", async () => {
    const { hear, last } = talk();
    expect(await hear("go depth 3 searchmoves e2e5 e2e4 e4e5")).toEqual([
      expect.stringMatching(/^info string searchmoves: 'e2e5' .*\(search_moves\[0\]/),
      expect.stringMatching(/^info string searchmoves: 'e4e5' .*\(search_moves\[2\]/),
    ]);
    expect(last().request.searchMoves).toEqual(["e2e4"]);
  });

  test("a UCI search corrects the spelling of searchmoves, with a note", async () => {
    const { hear, last } = talk();
    expect(await hear("go depth 3 searchmoves E2E4 nf3")).toEqual([
      "info string searchmoves: E2E4 was read as e2e4",
      "info string searchmoves: nf3 was read as g1f3",
    ]);
    expect(last().request.searchMoves).toEqual(["e2e4", "g1f3"]);
  });

  test.each([
    ["go depth 99", "go depth 99 is outside 1 to 30: taken as 30", { depth: 30 }],
    ["go nodes 0", "go nodes 0 is outside 1 to 1000000000: taken as 1", { nodes: 1n }],
    ["go movetime 90000", "go movetime 90000 is outside 1 to 60000: taken as 60000", { movetimeMs: 60_000 }],
  ])("a UCI search changes %j to the nearest allowed value, with a note", async (line, note, limits) => {
    const { hear, last } = talk();
    expect(await hear(line)).toEqual([`info string ${note}`]);
    expect(last().request).toMatchObject(limits);
  });

  test.each([
    ["go infinite", { nodes: 1_000_000_000n, movetimeMs: 60_000 }],
    ["go movetime 200", { nodes: 1_000_000_000n, movetimeMs: 200 }],
    ["go movetime 5", { nodes: 1_000_000_000n, movetimeMs: 50 }],
    ["go movetime 5 nodes 40", { nodes: 40n, movetimeMs: 50 }],
    ["go movetime 5 depth 3", { depth: 3, movetimeMs: 50 }],
    ["go wtime 30960 btime 1", { nodes: 1_000_000_000n, movetimeMs: 1000 }],
    ["go depth 12 wtime 30960 btime 1", { depth: 12, movetimeMs: 1000 }],
    ["go ponder wtime 30960 btime 1", { nodes: 1_000_000_000n, movetimeMs: 60_000 }],
  ])("the command %s has a depth limit only if it contains depth", async (line, limits) => {
    const { hear, last } = talk();
    await hear(line);
    expect(last().request).toMatchObject(limits);
    expect(last().request.depth).toBe("depth" in limits ? limits.depth : undefined);
  });

  test("a UCI search that exceeds the plan is repeated with allowed limits, and later searches use these limits", async () => {
    const { hear, last, searches } = talk();
    await hear("setoption name MultiPV value 8", "go depth 30");
    last().fail(overPlan({ "/depth": 20, "/multipv": 5 }));
    expect(await hear()).toEqual([
      "info string go depth 30 is outside 1 to 20: taken as 20",
      "info string MultiPV 8 is outside 1 to 5: taken as 5",
    ]);
    expect(last().request).toMatchObject({ depth: 20, multipv: 5 });
    last().find(done(20, ["e2e4"]));
    await hear("go depth 25");
    expect(last().request).toMatchObject({ depth: 20, multipv: 5 });
    expect(searches).toHaveLength(3);
  });
});

/** Returns pawn moves. After a pawn move, no earlier position can occur again. */
function pawnsOf(round: number): readonly string[] {
  const file = "abcde"[Math.floor(round / 30)] ?? "h";
  return [`${file}2${file}3`, `${file}7${file}6`];
}

function overPlan(maxima: Readonly<Record<string, number>>): KibitzError {
  const violations = Object.entries(maxima).map(([pointer, maximum]) => ({
    pointer,
    code: "over_plan_limit" as const,
    message: "too much",
    allowed: { minimum: 1, maximum },
  }));
  return new KibitzError("upgrade_needed", "too much", { violations });
}

describe("an answer", () => {
  test("the info lines of a search show scores from the point of view of the side to move", async () => {
    const { hear, last } = talk();
    await hear("setoption name UCI_ShowWDL value true", "position startpos moves e2e4", "go depth 2");
    last().find(
      stateOf(1, ["e7e5"], { score: { ...centipawns(35), wdl: { win: 90, draw: 900, loss: 10 } } }),
    );
    expect(await hear()).toEqual([
      "info depth 1 seldepth 3 multipv 1 score cp -35 wdl 10 900 90 nodes 100 nps 1000 hashfull 1 tbhits 0 time 10 pv e7e5",
    ]);
    last().find(
      done(2, ["c7c5", "g1f3"], StopReason.DEPTH, { score: { ...mateIn(-3), bound: Bound.LOWER } }),
    );
    last().end();
    expect(await hear()).toEqual([
      "info depth 2 seldepth 4 multipv 1 score mate 3 upperbound nodes 200 nps 1000 hashfull 2 tbhits 0 time 20 pv c7c5 g1f3",
      "bestmove c7c5 ponder g1f3",
    ]);
  });

  test("the info lines of a search show each variation", async () => {
    const { hear, last } = talk();
    await hear("go depth 2");
    const line = (moves: string[]) => ({ depth: 2, seldepth: 2, score: centipawns(1), moves });
    last().find(done(2, ["e2e4"], StopReason.DEPTH, { lines: [line(["e2e4"]), line(["d2d4"])] }));
    const heard = await hear();
    expect(heard[0]).toMatch(/ multipv 1 .* pv e2e4$/);
    expect(heard[1]).toMatch(/ multipv 2 .* pv d2d4$/);
  });

  test("a search of a finished game prints bestmove (none)", async () => {
    const { hear, last } = talk();
    await hear("position startpos moves f2f3 e7e5 g2g4 d8h4", "go depth 5");
    last().find(gameOver(mateIn(0)));
    last().end();
    expect(await hear()).toEqual(["info depth 0 score mate 0", "bestmove (none)"]);
  });

  test("a search of a drawn position prints any legal move, with a note", async () => {
    const { hear, last } = talk();
    await hear("position fen 8/8/8/3k4/8/8/8/K7 w - - 0 1", "go depth 5");
    last().find(gameOver(centipawns(0)));
    last().end();
    expect(await hear()).toEqual([
      "info depth 0 score cp 0",
      expect.stringMatching(/^info string no move was found: (a1\w\d) is only the first that is legal$/),
      expect.stringMatching(/^bestmove a1(a2|b1|b2)$/),
    ]);
  });

  test("a position command without the keyword moves changes nothing, and prints the correct command", async () => {
    const { hear, last } = talk();
    await hear("position startpos moves e2e4");
    expect(await hear("position startpos d2d4 d7d5")).toEqual([
      "info string position: the word moves is missing before d2d4; write: position startpos moves d2d4 d7d5. The position stays as it was.",
    ]);
    await hear("go depth 3");
    expect(last().request).toMatchObject({ fen: expect.stringContaining(" b KQkq"), moves: [] });
  });

  test.each([
    [
      "startpos moves E2E4 e7e5 nf3",
      ["moves were read as they are meant, the first E2E4 as e2e4"],
      { fen: expect.stringContaining("PPPP1PPP/RNBQKBNR w KQkq"), moves: ["g1f3"] },
    ],
    [
      "fen FEN: 4k3/8/8/8/8/8/4P3/4K3 w - - 0 1",
      ["the FEN was read as 4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"],
      { fen: "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1" },
    ],
    [
      'fen "4k3/8/8/8/8/8/4P3/4K3_w_-_-_0_1" moves E2E4',
      [
        "the FEN was read as 4k3/8/8/8/8/8/4P3/4K3 w - - 0 1",
        "moves were read as they are meant, the first E2E4 as e2e4",
      ],
      { fen: "4k3/8/8/8/4P3/8/8/4K3 b - - 0 1" },
    ],
  ])("the command position %s is corrected, with a note", async (position, notes, request) => {
    const { hear, last } = talk();
    expect(await hear(`position ${position}`)).toEqual(notes.map((note) => `info string position: ${note}`));
    await hear("go depth 3");
    expect(last().request).toMatchObject(request);
  });

  test.each([
    ["startpos moves e2e4 E2E4", /'E2E4'/],
    ["fen 4k3/8/8/8/2p5/1P6/4B3/4K3 w - - 0 1 moves bc4", /'bc4'/],
    ["fen 4k3/8/8/8/8/8/4P3/4K3", /The FEN has 1 field/],
    ["fen not a FEN", /FEN/],
    ["", /./],
    ["fen 8/8/8/8/8/8/8/8 w - - 0 1", /White has no king\./],
    ["startpos moves e2e4 e2e4", /'e2e4' .*\(moves\[1\], in the position /],
  ])(
    "the command position %s is refused with a reason, and the next go searches nothing",
    async (position, why) => {
      const { hear, searches } = talk();
      await hear("position startpos moves e2e4");
      const heard = await hear(`position ${position}`, "go depth 3", "isready");
      expect(notesOf(heard).join("\n")).toMatch(why);
      expect(heard.slice(-3)).toEqual([
        "info string there is no position to search: the last one was refused",
        "bestmove 0000",
        "readyok",
      ]);
      expect(searches).toEqual([]);
    },
  );
});

describe("a go during a search", () => {
  test.each(["depth 5", "nodes 5000", "movetime 500", "wtime 60000 btime 60000", "mate 3"])(
    "a go waits for a search of go %s, with the lines after this go",
    async (limit) => {
      const { hear, searches } = talk();
      const first = await hear(
        "position startpos",
        `go ${limit}`,
        "ucinewgame",
        "position startpos moves e2e4",
        "go depth 2",
        "position startpos moves d2d4",
        "go depth 3",
        "isready",
      );
      expect(first).toEqual(["readyok"]);
      expect(searches).toHaveLength(1);
      searches[0]?.find(done(5, ["b1c3"], StopReason.DEPTH, { score: mateIn(1) }));
      expect((await hear()).at(-1)).toBe("bestmove b1c3");
      expect(searches[1]?.request).toMatchObject({ depth: 2 });
      searches[1]?.find(done(2, ["e7e5"]));
      expect((await hear()).at(-1)).toBe("bestmove e7e5");
      searches[2]?.find(done(3, ["d7d5"]));
      expect((await hear()).at(-1)).toBe("bestmove d7d5");
      const fens = searches.map(({ request }) => request.fen.split(" ")[0]);
      expect(fens).toEqual([
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR",
        "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR",
        "rnbqkbnr/pppppppp/8/8/3P4/8/PPP1PPPP/RNBQKBNR",
      ]);
    },
  );

  test("a go that stops a search begins before the lines behind it", async () => {
    const { hear, hearWithin, searches } = talk();
    await hear("go depth 20", "go infinite", "position startpos moves e2e4", "go", "go depth 3");
    searches[0]?.find(done(20, ["d2d4"]));
    expect(await hear()).toEqual([
      expect.stringMatching(/^info /),
      "bestmove d2d4",
      "bestmove (none)",
      "bestmove (none)",
    ]);
    expect(searches).toHaveLength(4);
    expect(await hearWithin(1000)).toEqual([]);
    searches[3]?.find(done(3, ["e7e5"]));
    expect((await hear()).at(-1)).toBe("bestmove e7e5");
  });

  test("a second stop does not prolong the time in which a first move may come", async () => {
    const { hear, hearWithin } = talk();
    await hear("go movetime 1000", "stop");
    expect(await hearWithin(100)).toEqual([]);
    await hear("stop");
    expect((await hearWithin(20)).at(-1)).toBe("bestmove b1a3");
  });

  test("stop ends the running search only, and the next go begins", async () => {
    const { hear, searches } = talk();
    await hear("go depth 20", "go depth 2");
    searches[0]?.find(stateOf(4, ["e2e4"]));
    await hear();
    expect(await hear("stop")).toEqual(["bestmove e2e4"]);
    searches[1]?.find(done(2, ["d2d4"]));
    expect((await hear()).at(-1)).toBe("bestmove d2d4");
  });

  test.each(["infinite", "ponder", ""])("a search of go %s is stopped by the next go", async (mode) => {
    const { hear, searches } = talk();
    await hear(`go ${mode}`);
    searches[0]?.find(stateOf(4, ["e2e4"]));
    await hear();
    expect((await hear("go depth 2")).at(-1)).toBe("bestmove e2e4");
    expect(searches).toHaveLength(2);
  });

  test("a go waits for a search after ponderhit, because the clock then ends this search", async () => {
    const { hear, searches } = talk();
    await hear("go ponder wtime 60000 btime 60000", "ponderhit", "go depth 2");
    expect(searches).toHaveLength(1);
    searches[0]?.find(done(4, ["e2e4"]));
    await hear();
    expect(searches).toHaveLength(2);
  });

  test("quit ends the running search at once, and no waiting go begins", async () => {
    const { hear, searches, over } = talk();
    await hear("go depth 20", "go depth 2");
    searches[0]?.find(stateOf(4, ["e2e4"]));
    await hear();
    expect(await hear("quit")).toEqual(["bestmove e2e4"]);
    await over;
    expect(searches).toHaveLength(1);
  });

  test.each(["ucinewgame", "position startpos", ""])(
    "the end of standard input ends a waiting go infinite that is followed by %j",
    async (line) => {
      const { hear, hangUp, searches, over } = talk();
      await hear("go depth 5", "go infinite", line);
      hangUp();
      searches[0]?.find(done(5, ["d2d4"]));
      expect((await hear()).filter((text) => text.startsWith("bestmove"))).toEqual([
        "bestmove d2d4",
        "bestmove (none)",
      ]);
      await over;
    },
  );

  test("the waiting go begins after the end of standard input, and the session ends after the last search", async () => {
    const { hear, hangUp, searches, over } = talk();
    let isOver = false;
    over.then(() => {
      isOver = true;
    });
    await hear("go depth 5", "position startpos moves e2e4", "go depth 2");
    hangUp();
    searches[0]?.find(done(5, ["d2d4"]));
    expect((await hear()).at(-1)).toBe("bestmove d2d4");
    expect(isOver).toBe(false);
    searches[1]?.find(done(2, ["e7e5"]));
    expect((await hear()).at(-1)).toBe("bestmove e7e5");
    expect(isOver).toBe(true);
  });

  test.each(["go infinite", "go ponder", "go"])(
    "a waiting %s ends after the end of standard input, even if other lines follow it",
    async (unbounded) => {
      const { hear, hangUp, searches, over } = talk();
      await hear("go depth 5", unbounded, "position startpos moves e2e4", "ucinewgame");
      hangUp();
      searches[0]?.find(done(5, ["d2d4"]));
      expect(await hear()).toEqual([expect.stringMatching("^info"), "bestmove d2d4", "bestmove (none)"]);
      await over;
      expect(searches[1]?.signal.aborted).toBe(true);
    },
  );
});

test("a castling right that is removed, and a position that is read as Chess960, are reported", async () => {
  const { hear, last } = talk();
  expect(await hear("position fen 4k3/8/8/8/8/8/8/4K3 w KQkq - 0 1")).toEqual([
    "info string position: Castling rights KQkq were removed: the king or the rook is not in its place.",
  ]);
  const shuffled = "position fen bqnrnkrb/pppppppp/8/8/8/8/PPPPPPPP/BQNRNKRB w KQkq - 0 1";
  expect(await hear(shuffled, "go depth 2")).toEqual([
    "info string position: The castling rights KQkq do not fit standard chess, so the position was read as Chess960.",
  ]);
  expect(last().request).toMatchObject({ options: { uci_chess960: true } });
  expect(await hear("stop", "setoption name UCI_Chess960 value false", shuffled)).toContain(
    "info string position: Castling rights KQkq were removed: the king or the rook is not in its place.",
  );
});
