import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { gzipSync } from "node:zlib";
import { describe, expect, test, vi } from "vitest";
import { startFen } from "../contract/protocols/cases/case.ts";
import { post } from "../contract/protocols/post.ts";
import { descendantsOf, stillRunning } from "../engine/processes.ts";
import { createEnginesInProcess } from "../support/engines-in-process.ts";
import { patienceMs } from "../support/patience.ts";
import { rateOf, usePlansFile } from "../support/plans-file.ts";
import { quickestSettings } from "../support/quickest-settings.ts";
import { useApp } from "../support/running-app.ts";
import { startKibitz } from "../support/start-kibitz.ts";
import { useTemporaryFolder } from "../support/temporary-folder.ts";
import { newKey } from "./new-key.ts";
import { type Finished, runKibitz, type Settings } from "./run-kibitz.ts";

const folder = useTemporaryFolder();
let files = 0;

function fileOf(...games: readonly string[]): string {
  const file = join(folder, `${++files}.pgn`);
  writeFileSync(file, games.join("\n\n"));
  return file;
}

const foolsMate = '[White "Anna"]\n[Black "Ben"]\n\n1. f3 e5 2. g4 {[%clk 0:01:00]} Qh4# 0-1\n';
/** Every search of this game ends immediately, at any depth. */
const backRank = '[FEN "6k1/5ppp/8/8/8/8/5PPP/4R1K1 w - - 0 1"]\n\n1. Re8# *\n';
const queenGivenAway = '[White "C"]\n[Black "D"]\n\n1. e4 e5 2. Qh5 Nc6 3. Qxf7+ Kxf7 *\n';
const illegal = '[White "E"]\n\n1. e4 e5 2. Ke3 *\n';

const chess960 =
  '[Variant "Chess960"]\n[FEN "bqnbnrkr/pppppppp/8/8/8/8/PPPPPPPP/BQNBNRKR w HFhf - 0 1"]\n\n1. f4 f5 *\n';

const linesOf = (stdout: string) =>
  stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));

describe("kibitz review", () => {
  test("kibitz review finds the blunder, and prints the accuracy of both players", async () => {
    const { code, stdout, stderr } = await runKibitz(["review", fileOf(queenGivenAway), "--depth", "8"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "kibitz: 1 game\n" });
    expect(stdout).toMatch(/^Game 1: C – D, \*, C20 King's Pawn Game: Wayward Queen Attack\n/);
    expect(stdout).toMatch(/^ {2}C +\d+\.\d % +\d+ cp +\d +\d +1$/m);
    expect(stdout).toMatch(/^ {2}D +\d+\.\d % +\d+ cp +\d +\d +0$/m);
    expect(stdout).toMatch(/^ {3}White ┤\n(.*┤.*\n){5} +↑\n +╵opening\n/m);
    expect(stdout).toMatch(
      /^ {2}3\. Qxf7\+\?\? {2}\(.+ → -\d.+\) Blunder\. 3\. .+ was best\.\n {2}Better: 3\. /m,
    );
    expect(stdout).toMatch(/^ {4}7 {2}p {2}p {2}p {2}p {2}· \(p\) p {2}p$/m);
    expect(stdout).toMatch(/Stockfish 19 Lite WASM \(wasm\), depth 8, 7 positions, 7 searched, /);
  });

  test("kibitz review prints the line and column of each corrected move and tag", async () => {
    const file = fileOf(foolsMate, '[fen "6k1/5ppp/8/8/8/8/5PPP/4R1K1 w - - 0 1"]\n\n1. re8# 0-0\n');
    const { code, stdout } = await runKibitz(["review", file, "--depth", "1"], { COLUMNS: "120" });
    expect(code).toBe(0);
    expect(stdout).toMatch(/Note: The tag fen was read as FEN \(game 2, ply 1, line 7, column 1\)\./);
    expect(stdout).toMatch(/Note: 're8#' was read as Re8# \(game 2, ply 1, line 9, column 4\)\./);
  });

  test("kibitz review reads a game with German piece letters, and prints a note", async () => {
    const file = fileOf(foolsMate, '[White "G"]\n\n1. e4 e5 2. Sf3 Sc6 *\n');
    const output = join(folder, "german.pgn");
    const args = ["review", file, "--depth", "1", "--output", output];
    const { code, stdout } = await runKibitz(args, { COLUMNS: "120" });
    expect(code).toBe(0);
    expect(stdout).toContain(
      "Note: The pieces have German letters, and were read as in English (game 2, ply 3, line 9, column 13).",
    );
    expect(readFileSync(output, "utf8")).toMatch(/2\. Nf3 .* Nc6 /);
    expect((await runKibitz(args)).stderr).toContain(`2 in ${output} before and not reviewed again`);
  });

  test("kibitz review reads a compressed UTF-16 file, refuses a zip archive, and never truncates a compressed --output", async () => {
    const packed = join(folder, "packed.pgn.gz");
    writeFileSync(packed, gzipSync(Buffer.from(`\ufeff${foolsMate}`, "utf16le")));
    const zip = join(folder, "archive.pgn");
    writeFileSync(zip, Buffer.from("504b030414000000", "hex"));
    const { code, stdout, stderr } = await runKibitz(["review", packed, zip, "--depth", "1"]);
    expect(code).toBe(2);
    expect(stdout).toContain("Anna – Ben, 0-1");
    expect(stderr).toContain(`cannot read ${zip}: this is a zip archive; unpack it first`);
    const output = join(folder, "output.pgn");
    writeFileSync(output, gzipSync(foolsMate));
    const before = readFileSync(output);
    const refused = await runKibitz(["review", fileOf(foolsMate), "--depth", "1", "--output", output]);
    expect(refused.stderr).toContain("holds other games");
    expect(readFileSync(output)).toEqual(before);
  });

  test("kibitz review --json prints one game per line in the format of the API, and searches repeated positions once", async () => {
    const file = fileOf(foolsMate, backRank, foolsMate, chess960);
    const { code, stdout } = await runKibitz(["review", file, "-d", "6", "--json"]);
    expect(code).toBe(0);
    const [first, second, again, other, ...more] = linesOf(stdout);
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
    expect(again.search).toMatchObject({ positions: 4, searched: 0, cached: 4, nodes: 0, time_ms: 0 });
    expect(again.moves).toEqual(first.moves);
    expect(again.players).toEqual(first.players);
    expect(other).toMatchObject({
      variant: "chess960",
      start_fen: "bqnbnrkr/pppppppp/8/8/8/8/PPPPPPPP/BQNBNRKR w HFhf - 0 1",
      start_evaluation: { mate: null },
      opening: null,
      search: { searched: 3 },
    });
  });

  test("kibitz review stops immediately on Ctrl-C, and prints and saves the finished games", async () => {
    const output = join(folder, "interrupted.pgn");
    const args = ["review", fileOf(backRank, queenGivenAway), "--depth", "30", "--output", output];
    const kibitz = startKibitz(args, { ...quickestSettings, KIBITZ_DATA_DIR: join(folder, "data") });
    const printed = Promise.all([text(kibitz.stdout), text(kibitz.stderr)]);
    await vi.waitFor(() => expect(readFileSync(output, "utf8")).toContain("1. Re8# *\n"), 3 * patienceMs);
    const engines = descendantsOf(kibitz.pid);
    expect(await kibitz.stop("SIGINT")).toBe(130);
    const [stdout, stderr] = await printed;
    expect(stdout.match(/^Game \d+/gm)).toEqual(["Game 1"]);
    expect(stderr).toBe(
      `kibitz: interrupted after 1 game; run the same command again to continue (1 game is in ${output})\n`,
    );
    await vi.waitFor(() => expect(stillRunning(engines)).toEqual([]), patienceMs);
  });
});

describe("kibitz review --url", () => {
  const app = useApp(
    {
      KIBITZ_ACCESS: "public",
      KIBITZ_PLANS: usePlansFile(
        { id: "keyless", limits: { review_plies_max: 20, rates: [rateOf("second", 5, 1)] } },
        { id: "free", limits: { rates: [rateOf("minute", 100_000, 60)] } },
      ),
    },
    { engines: createEnginesInProcess() },
  );
  let key: Promise<string> | undefined;
  const review = async (
    args: readonly string[],
    { env, stdin = [] }: { env?: Settings; stdin?: readonly string[] } = {},
  ): Promise<Finished> => {
    key ??= newKey(app.url);
    return runKibitz(["review", ...args, "--url", app.url], env ?? { KIBITZ_API_KEY: await key }, stdin);
  };

  test("kibitz review --url prints the same text as kibitz review", async () => {
    const file = fileOf(queenGivenAway);
    const { code, stdout, stderr } = await review([file, "-d", "4"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "kibitz: 1 game\n" });
    expect(stdout).toMatch(/^Game 1: C – D, \*, C20 King's Pawn Game: Wayward Queen Attack\n/);
    expect(stdout).toMatch(/Stockfish 19 Lite in process \(wasm\), depth 4, 7 positions, 7 searched,\s/);
    const json = await review([file, "--nodes", "100", "--json"]);
    expect(linesOf(json.stdout)).toMatchObject([
      { file, game: 1, method: "lichess-2026", search: { limits: { depth: null, nodes: 100, lines: 1 } } },
    ]);
  });

  test("kibitz review reports the line and column of an illegal move, and reviews the other games", async () => {
    const file = fileOf(foolsMate, illegal, backRank);
    const { code, stdout, stderr } = await review([file, "-d", "4"]);
    expect(code).toBe(2);
    expect(stdout.match(/^Game \d+/gm)).toEqual(["Game 1", "Game 3"]);
    expect(stderr).toMatch(
      /^kibitz: 'Ke3' .+ \(game 2, ply 3, line 9, column 13\)\.\nkibitz: 3 games, 1 refused\n$/,
    );
    const json = await review([file, "-d", "4", "--json"]);
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

  test("kibitz review reports the number of a game that is too large for the API, and reviews the other games", async () => {
    const comment = `{${"x".repeat(257 * 1024)}}`;
    const { code, stdout, stderr } = await review([fileOf(`1. e4 ${comment} e5 *`, backRank), "-d", "4"]);
    expect([code, stdout.match(/^Game \d+/gm)]).toEqual([2, ["Game 2"]]);
    expect(stderr).toMatch(/^kibitz: Game 1: .*`pgn`.*\nkibitz: 2 games, 1 refused\n$/);
  });

  test("kibitz review notes a game without moves, such as a forfeit", async () => {
    const file = fileOf(foolsMate, '[White "A"]\n[Black "B"]\n[Result "1-0"]\n\n1-0', backRank);
    const { code, stdout, stderr } = await review([file, "-d", "4"]);
    expect([code, stderr]).toEqual([
      0,
      "kibitz: Game 2 has no moves to review\nkibitz: 3 games, 1 without moves\n",
    ]);
    expect(stdout.match(/^Game \d+/gm)).toEqual(["Game 1", "Game 3"]);
    const json = await review([file, "-d", "4", "--json"]);
    expect(json).toMatchObject({ code: 0, stderr: "kibitz: 3 games, 1 without moves\n" });
    expect(linesOf(json.stdout)).toMatchObject([{ game: 1 }, { game: 2, code: "invalid_pgn" }, { game: 3 }]);
  });

  test("kibitz review reads games from standard input in chunks of any size", async () => {
    const bytes = [...foolsMate.replace("Ben", "Bén")];
    const { code, stdout } = await review(["-", "-d", "4"], { stdin: bytes });
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Game 1: Anna – Bén, 0-1, /);
  });

  test("kibitz review reads the PGN files of a folder in alphabetical order, and writes a file that can be reviewed again", async () => {
    const games = join(folder, "games");
    mkdirSync(games);
    writeFileSync(join(games, "b.PGN"), backRank);
    writeFileSync(join(games, "a.pgn"), `${foolsMate}\n${illegal}`);
    writeFileSync(join(games, "notes.txt"), "no game");
    const output = join(folder, "annotated.pgn");
    const { code, stdout, stderr } = await review([games, "-d", "5", "--output", output]);
    expect(code).toBe(2);
    expect(stdout.match(/^\S+, game \d+/gm)).toEqual([
      `${join(games, "a.pgn")}, game 1`,
      `${join(games, "b.PGN")}, game 1`,
    ]);
    expect(stderr).toContain(`kibitz: ${join(games, "a.pgn")}: 'Ke3' is not`);
    const annotated = readFileSync(output, "utf8");
    expect(annotated).toMatch(/^\[White "Anna"\].+2\. g4 \$4 .+Qh4# 0-1\n\n\[FEN .+1\. Re8# \*\n$/s);
    const again = await review([output, "-d", "5", "--json"]);
    expect(
      linesOf(again.stdout)
        .map(({ pgn }) => pgn)
        .join("\n"),
    ).toBe(annotated);
  });

  test("kibitz review reports a file without games, and reviews the other files", async () => {
    const files = [fileOf("\n"), fileOf(backRank)];
    const { code, stdout, stderr } = await review([...files, "-d", "4"]);
    expect(code).toBe(2);
    expect(stdout).toContain(`${files[1]}, game 1: White – Black, *`);
    expect(stderr).toBe(`kibitz: ${files[0]} has no games\nkibitz: 1 game\n`);
  });

  test.each([
    [[], /^kibitz: give a file of games in PGN, a folder of them, or - for standard input\n/],
    [["/nowhere.pgn"], /^kibitz: cannot read \/nowhere\.pgn: no such file or directory\n/],
    [[fileOf(foolsMate), "--depth", "31"], /`depth`.*31/],
    [[fileOf(foolsMate), "--engine", "houdini"], /"houdini"/],
    [[fileOf(foolsMate), "--moves", "e4"], /Unknown option .--moves./],
    [
      [fileOf(foolsMate), "--output", "/nowhere/a.pgn"],
      /^kibitz: cannot write \/nowhere\/a\.pgn: no such file or directory\n/,
    ],
  ])("kibitz review %j fails before any search", async (args, message) => {
    const { code, stdout, stderr } = await review(args);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(message);
  });

  test("kibitz review continues an output file inside the reviewed folder, and does not review that file", async () => {
    const games = join(folder, "with-output");
    mkdirSync(games);
    writeFileSync(join(games, "b.pgn"), foolsMate);
    const output = join(games, "annotated.pgn");
    await review([games, "-d", "3", "--output", output]);
    const whole = readFileSync(output, "utf8");
    const second = await review([games, "-d", "3", "--output", output]);
    expect(second).toMatchObject({
      code: 0,
      stdout: "",
      stderr: `kibitz: 1 game, 1 in ${output} before and not reviewed again\n`,
    });
    expect(readFileSync(output, "utf8")).toBe(whole);
  });

  test("kibitz review reads names in Latin-1, and writes names in UTF-8", async () => {
    const file = fileOf();
    writeFileSync(file, Buffer.from(foolsMate.replace("Anna", "Jürgen"), "latin1"));
    const output = join(folder, "names.pgn");
    const { stdout } = await review([file, "-d", "3", "--output", output]);
    expect(stdout).toMatch(/^Game 1: Jürgen – Ben, /);
    expect(readFileSync(output, "utf8")).toContain('[White "Jürgen"]');
  });

  test("kibitz review refuses standard output as --output", async () => {
    const { code, stderr } = await review([fileOf(foolsMate), "--output", "-"]);
    expect(code).toBe(2);
    expect(stderr).toContain("the annotated PGN on standard output is `pgn` of --json");
  });

  test("kibitz review never overwrites one of its input files", async () => {
    const file = fileOf(foolsMate);
    const { code, stderr } = await review([file, "--output", join(folder, ".", file.slice(folder.length))]);
    expect(code).toBe(2);
    expect(stderr).toContain("is one of the files to review: name another one");
    expect(readFileSync(file, "utf8")).toBe(foolsMate);
  });

  test("kibitz review writes games without tags in a format that kibitz review can read and continue", async () => {
    const file = fileOf("1. f3 e5 2. g4 Qh4# 0-1\n");
    const other = fileOf("1. e4 e5 2. Qh5 Ke7 3. Qxe5# 1-0\n");
    const output = join(folder, "untagged.pgn");
    await review([file, other, "-d", "3", "--output", output]);
    const whole = readFileSync(output, "utf8");
    expect(whole.match(/^\[Event "\?"\]\n\n1\. /gm)).toHaveLength(2);
    const again = await review([file, other, "-d", "3", "--output", output]);
    expect(again).toMatchObject({
      code: 0,
      stderr: `kibitz: 2 games, 2 in ${output} before and not reviewed again\n`,
    });
    expect(readFileSync(output, "utf8")).toBe(whole);
    expect((await review([output, "-d", "3"])).code).toBe(0);
  });

  test("kibitz review continues an incomplete output file after the last complete game", async () => {
    const file = fileOf(foolsMate, backRank, queenGivenAway);
    const output = join(folder, "resumed.pgn");
    await review([file, "-d", "3", "--output", output]);
    const whole = readFileSync(output, "utf8");
    // The first length ends in a move of the third game, and the second length ends in its tags.
    for (const length of [whole.indexOf("Qh5") + 2, whole.indexOf('[Black "D"]') + 4]) {
      writeFileSync(output, whole.slice(0, length));
      const second = await review([file, "-d", "3", "--output", output]);
      expect(second).toMatchObject({
        code: 0,
        stderr: `kibitz: 3 games, 2 in ${output} before and not reviewed again\n`,
      });
      expect(second.stdout.match(/^Game \d+/gm)).toEqual(["Game 3"]);
      expect(readFileSync(output, "utf8")).toBe(whole);
    }
    const third = await review([file, "-d", "3", "--output", output]);
    expect(third).toMatchObject({ code: 0, stdout: "" });
    const other = await review([fileOf(queenGivenAway), "-d", "3", "--output", output]);
    expect(other).toMatchObject({ code: 2, stdout: "" });
    expect(other.stderr).toMatch(
      /^kibitz: --output .+ already exists and holds other games: name another file/,
    );
    expect(readFileSync(output, "utf8")).toBe(whole);
  });

  test("kibitz review never writes into a file with other content", async () => {
    const notes = join(folder, "notes.md");
    for (const content of ["# Notes", "# Notes\n\nMine.\n"]) {
      writeFileSync(notes, content);
      const { code, stderr } = await review([fileOf(backRank), "--output", notes]);
      expect([code, readFileSync(notes, "utf8")]).toEqual([2, content]);
      expect(stderr).toContain("already exists and holds other games");
    }
  });

  test("kibitz review waits for the rate limit, and refuses only the game that is too long for the plan", async () => {
    const knights = "1. Nf3 Nf6 2. Ng1 Ng8 ".repeat(6).replaceAll(/\d+\. /g, "");
    const games = Array.from({ length: 7 }, () => backRank);
    const before = app.logged.length;
    const isRefused = () =>
      app.logged.slice(before).some((line) => {
        const { request = "", code } = line as { readonly request?: string; readonly code?: string };
        return request.endsWith("/ReviewGame") && code === "rate_limited";
      });
    const reviewing = review([fileOf(`${knights} *`, ...games), "-d", "2"], { env: {} });
    // Seven games exceed the rate limit of one second. On a busy machine they take longer, so other requests from the same
    // address use the rate limit, too.
    const ask = () => post(`${app.url}/v1/eval`, { fen: startFen, depth: 1 });
    const askToo = () => Promise.all(Array.from({ length: 5 }, ask)).then(isRefused);
    await expect.poll(askToo, { interval: 1 }).toBe(true);
    const { code, stdout, stderr } = await reviewing;
    expect(code).toBe(2);
    expect(stdout.match(/^Game \d+/gm)).toHaveLength(7);
    const retry = "kibitz: rate limited, retrying in 1 s\n";
    expect(stderr).toContain(retry);
    expect(stderr.replaceAll(retry, "")).toMatch(/^kibitz: .*24.*\nkibitz: 8 games, 1 refused\n$/);
  });
});
