import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { describe, expect, test, vi } from "vitest";
import { descendantsOf, stillRunning } from "../engine/processes.ts";
import { quickestSettings } from "../support/quickest-settings.ts";
import { startKibitz } from "../support/start-kibitz.ts";
import { useTemporaryFolder } from "../support/temporary-folder.ts";
import { runKibitz } from "./run-kibitz.ts";

const folder = useTemporaryFolder();
let files = 0;

function fileOf(...games: readonly string[]): string {
  const file = join(folder, `${++files}.pgn`);
  writeFileSync(file, games.join("\n\n"));
  return file;
}

const foolsMate = '[White "Anna"]\n[Black "Ben"]\n\n1. f3 e5 2. g4 {[%clk 0:01:00]} Qh4# 0-1\n';
/** Each of its searches ends at once, however deep. */
const backRank = '[FEN "6k1/5ppp/8/8/8/8/5PPP/4R1K1 w - - 0 1"]\n\n1. Re8# *\n';
const queenGivenAway = '[White "C"]\n[Black "D"]\n\n1. e4 e5 2. Qh5 Nc6 3. Qxf7+ Kxf7 *\n';
const illegal = '[White "E"]\n\n1. e4 e5 2. Ke3 *\n';

const linesOf = (stdout: string) =>
  stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));

describe("kibitz review", () => {
  test("finds the blunder, and says who played how well", async () => {
    const { code, stdout, stderr } = await runKibitz(["review", fileOf(queenGivenAway), "--depth", "8"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "kibitz: 1 game\n" });
    expect(stdout).toMatch(/^Game 1: C – D, \*, C20 King's Pawn Game: Wayward Queen Attack\n/);
    expect(stdout).toMatch(/^ {2}C +\d+\.\d % +\d+ cp +\d +\d +1$/m);
    expect(stdout).toMatch(/^ {2}D +\d+\.\d % +\d+ cp +\d +\d +0$/m);
    expect(stdout).toMatch(/^ {2}3\. +Qxf7\+\?\? +\(.+ → -\d.+\) Blunder\. .+ was best\.$/m);
    expect(stdout).toMatch(/Stockfish 19 Lite WASM \(wasm\), depth 8, 7 positions, 7 searched, /);
  });

  test("--json prints a game on a line, in the words of the API", async () => {
    const { code, stdout } = await runKibitz(["review", fileOf(foolsMate, backRank), "-d", "6", "--json"]);
    expect(code).toBe(0);
    const [first, second, ...more] = linesOf(stdout);
    expect(more).toEqual([]);
    expect(first).toMatchObject({
      game: 1,
      variant: "standard",
      start_evaluation: null,
      tags: { White: "Anna", Black: "Ben" },
      engine: { id: "stockfish-19-lite", path: "wasm" },
      method: "lichess-2026",
      opening: { eco: "A00", ply: 4 },
      players: { white: { blunders: 1, phases: { endgame: null } }, black: { accuracy: 100, blunders: 0 } },
      search: {
        positions: 4,
        searched: 4,
        cached: 0,
        limits: { depth: 6, nodes: null, lines: 1 },
        deterministic: true,
      },
      warnings: [],
    });
    expect(first.moves).toHaveLength(4);
    expect(first.moves[2]).toMatchObject({
      ply: 3,
      move: { san: "g4", uci: "g2g4", castling: null },
      evaluation: { cp: null, mate: -1, win_percent: 0 },
      win_percent: 2.4553,
      judgement: "blunder",
      phase: "opening",
      clock_ms: 60_000,
      best: { san: expect.any(Array), alternatives: [] },
    });
    expect(first.moves[3]).toMatchObject({
      evaluation: { mate: 0, win_percent: 0 },
      judgement: null,
      labels: expect.arrayContaining(["best"]),
    });
    expect(first.pgn).toContain("2. g4 $4 { [%eval #-1] [%clk 0:01:00] }");
    expect(second).toMatchObject({ game: 2, start_evaluation: { mate: 1 }, opening: null });
  });

  test("nodes limit each search, alone", async () => {
    const { stdout } = await runKibitz(["review", fileOf(foolsMate), "--nodes", "500", "--json"]);
    expect(linesOf(stdout)[0]).toMatchObject({ search: { limits: { depth: null, nodes: 500 } } });
  });

  test("a game of Chess960 is searched as one", async () => {
    const fen = "bqnbnrkr/pppppppp/8/8/8/8/PPPPPPPP/BQNBNRKR w HFhf - 0 1";
    const game = `[Variant "Chess960"]\n[FEN "${fen}"]\n\n1. f4 f5 *\n`;
    const { code, stdout } = await runKibitz(["review", fileOf(game), "-d", "3", "--json"]);
    expect(code).toBe(0);
    expect(linesOf(stdout)[0]).toMatchObject({
      variant: "chess960",
      start_fen: fen,
      start_evaluation: { mate: null },
      opening: null,
      search: { searched: 3 },
    });
  });

  test("a game that cannot be read is told with its place, and the others are reviewed", async () => {
    const file = fileOf(foolsMate, illegal, backRank);
    const { code, stdout, stderr } = await runKibitz(["review", file, "-d", "4"]);
    expect(code).toBe(2);
    expect(stdout.match(/^Game \d+/gm)).toEqual(["Game 1", "Game 3"]);
    expect(stderr).toMatch(
      /^kibitz: 'Ke3' is not a legal move for White, in the position .+ \(game 2, ply 3, line 9, column 13\)\.\nkibitz: 3 games, 1 refused\n$/,
    );
    const json = await runKibitz(["review", file, "-d", "4", "--json"]);
    expect(json).toMatchObject({ code: 2, stderr: "kibitz: 3 games, 1 refused\n" });
    expect(linesOf(json.stdout)).toMatchObject([
      { game: 1, method: "lichess-2026" },
      {
        file,
        game: 2,
        code: "illegal_move",
        errors: [{ pointer: "/pgn", ply: 3, token: "Ke3", line: 9, column: 13 }],
      },
      { game: 3, method: "lichess-2026" },
    ]);
  });

  test("a position that comes again is searched once", async () => {
    const { stdout } = await runKibitz(["review", fileOf(foolsMate, foolsMate), "-d", "5", "--json"]);
    const [first, again] = linesOf(stdout);
    expect(again.search).toMatchObject({ positions: 4, searched: 0, cached: 4, nodes: 0, time_ms: 0 });
    expect(again.moves).toEqual(first.moves);
    expect(again.players).toEqual(first.players);
  });

  test("games come from standard input, however they are cut into pieces", async () => {
    const bytes = [...foolsMate.replace("Ben", "Bén")];
    const { code, stdout } = await runKibitz(["review", "-", "-d", "4"], {}, bytes);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Game 1: Anna – Bén, 0-1, /);
  });

  test("letters of several bytes stay whole, wherever a file is cut into pieces", async () => {
    const comment = `x${"é".repeat(70_000)}`;
    const { stdout } = await runKibitz(["review", fileOf(`1. e4 {${comment}} *`), "-d", "1", "--json"]);
    expect(linesOf(stdout)[0].pgn).toContain(`{ ${comment} }`);
  });

  test("a folder's files are reviewed by name, and annotated into one file that reads as it was written", async () => {
    const games = join(folder, "games");
    mkdirSync(games);
    writeFileSync(join(games, "b.PGN"), backRank);
    writeFileSync(join(games, "a.pgn"), `${foolsMate}\n${illegal}`);
    writeFileSync(join(games, "notes.txt"), "no game");
    const output = join(folder, "annotated.pgn");
    const { code, stdout, stderr } = await runKibitz(["review", games, "-d", "5", "--output", output]);
    expect(code).toBe(2);
    expect(stdout.match(/^\S+, game \d+/gm)).toEqual([
      `${join(games, "a.pgn")}, game 1`,
      `${join(games, "b.PGN")}, game 1`,
    ]);
    expect(stderr).toContain(`kibitz: ${join(games, "a.pgn")}: 'Ke3' is not`);
    const annotated = readFileSync(output, "utf8");
    expect(annotated).toMatch(/^\[White "Anna"\].+2\. g4 \$4 .+Qh4# 0-1\n\n\[FEN .+1\. Re8# \*\n$/s);
    const again = await runKibitz(["review", output, "-d", "5", "--json"]);
    expect(
      linesOf(again.stdout)
        .map(({ pgn }) => pgn)
        .join("\n"),
    ).toBe(annotated);
  });

  test("a file without games is told, and the others are reviewed", async () => {
    const files = [fileOf("\n"), fileOf(backRank)];
    const { code, stdout, stderr } = await runKibitz(["review", ...files, "-d", "4"]);
    expect(code).toBe(2);
    expect(stdout).toContain(`${files[1]}, game 1: White – Black, *`);
    expect(stderr).toBe(`kibitz: ${files[0]} has no games\nkibitz: 1 game\n`);
  });

  test.each([
    [["review"], /^kibitz: give a file of games in PGN, a folder of them, or - for standard input\n/],
    [["review", "/nowhere.pgn"], /^kibitz: cannot read \/nowhere\.pgn: /],
    [["review", fileOf(foolsMate), "--depth", "31"], /`depth` must be from 1 to 30/],
    [["review", fileOf(foolsMate), "--engine", "houdini"], /no engine "houdini"/],
    [["review", fileOf(foolsMate), "--moves", "e4"], /there is no option --moves/],
    [["review", fileOf(foolsMate), "--output", "/nowhere/a.pgn"], /cannot write \/nowhere\/a\.pgn: /],
  ])("%j is refused before anything is searched", async (args, message) => {
    const { code, stdout, stderr } = await runKibitz(args);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(message);
  });

  test("never writes over a file that it is to read", async () => {
    const file = fileOf(foolsMate);
    const { code, stderr } = await runKibitz([
      "review",
      file,
      "--output",
      join(folder, ".", file.slice(folder.length)),
    ]);
    expect(code).toBe(2);
    expect(stderr).toContain("is one of the files to review: name another one");
    expect(readFileSync(file, "utf8")).toBe(foolsMate);
  });

  test("Ctrl-C ends it at once, and what is done is printed and written", async () => {
    const output = join(folder, "interrupted.pgn");
    const args = ["review", fileOf(backRank, queenGivenAway), "--depth", "30", "--output", output];
    const kibitz = startKibitz(args, { ...quickestSettings, KIBITZ_DATA_DIR: join(folder, "data") });
    const printed = Promise.all([text(kibitz.stdout), text(kibitz.stderr)]);
    await vi.waitFor(() => expect(readFileSync(output, "utf8")).toContain("1. Re8# *\n"), 20_000);
    const engines = descendantsOf(kibitz.pid);
    expect(await kibitz.stop("SIGINT")).toBe(130);
    const [stdout, stderr] = await printed;
    expect(stdout.match(/^Game \d+/gm)).toEqual(["Game 1"]);
    expect(stderr).toBe("");
    await vi.waitFor(() => expect(stillRunning(engines)).toEqual([]), 5000);
  });
});
