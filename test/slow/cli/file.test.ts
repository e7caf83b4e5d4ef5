import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { runKibitz } from "../../cli/run-kibitz.ts";
import { createEnginesInProcess } from "../../support/engines-in-process.ts";
import { useApp } from "../../support/running-app.ts";

const app = useApp({}, { engines: createEnginesInProcess() });

const folder = mkdtempSync(join(tmpdir(), "kibitz-"));
afterAll(() => rmSync(folder, { recursive: true }));

function fileOf(...lines: readonly string[]): string {
  const file = join(folder, `${lines.length}.epd`);
  writeFileSync(file, lines.join("\n"));
  return file;
}

const mate = "6k1/5ppp/8/8/8/8/5PPP/4R1K1 w - -";
const startFen = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
const bad = "8/8/8/8/8/8/8/8 w - -";

describe("eval --file", () => {
  test("kibitz eval --file compares the engine's moves with the best moves in the EPD file, and prints the score on standard error", async () => {
    const file = fileOf(
      `${mate} bm Re8#; id "found";`,
      "",
      `${mate} am Re8#; id "avoided";`,
      `${mate} 0 1`,
      `${mate} bm #1; id "mate";`,
      `${mate} 0 1; am Re8`,
      `${mate} 0 1 ;D1 20 ;D2 400`,
      "# the end",
    );
    const { code, stdout, stderr } = await runKibitz(["eval", "--file", file, "--depth", "5"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/1 ✓ found\n +White mates in 1/);
    expect(stdout).toMatch(/3 ✗ avoided\n .*Wanted: not Re8#\./);
    expect(stdout).toMatch(/5 ✓ mate\n/);
    expect(stderr).toBe("kibitz: 6 positions, solved 2 of 4 (50.0 %)\n");
  });

  test("kibitz eval --file refuses a line whose best move is illegal, and evaluates the others", async () => {
    const file = fileOf(`${mate} bm Qh5; id "wrong";`, `${mate} bm Re8;`);
    const { code, stdout, stderr } = await runKibitz(["eval", "--file", file, "--depth", "4"]);
    expect(code).toBe(2);
    expect(stdout).toMatch(
      /^ +1 {3}wrong\n +Line 1 was refused: The operation bm names 'Qh5', which is not one legal /,
    );
    expect(stderr).toBe("kibitz: 2 positions, solved 1 of 1 (100.0 %), 1 refused\n");
    const json = await runKibitz(["eval", "--file", file, "--depth", "4", "--json"]);
    expect(json.stdout.split("\n").flatMap((line) => (line ? [JSON.parse(line)] : []))).toMatchObject([
      { index: 0, line: 1, result: null, problem: { code: "illegal_move" }, solved: null },
      { index: 1, line: 2, problem: null, solved: true },
    ]);
  });

  test("kibitz eval --file says if castling rights were removed, or if a position was read as Chess960", async () => {
    const file = fileOf(
      `${mate.replace("w -", "w KQ")}`,
      "bqnrnkrb/pppppppp/8/8/8/8/PPPPPPPP/BQNRNKRB w KQkq -",
    );
    const { stdout } = await runKibitz(["eval", "--file", file, "--depth", "4"]);
    expect(stdout).toMatch(/Note: Castling rights KQ were removed/);
    expect(stdout).toMatch(
      /Note: The castling rights KQkq do not fit standard chess, so the position was read as Chess960/,
    );
  });

  test("kibitz eval --file --json prints one line for each position, and an invalid position does not affect the others", async () => {
    const file = fileOf("# two", `${mate} bm Re8;`, "", bad);
    const { code, stdout, stderr } = await runKibitz(["eval", "-f", file, "-d", "4", "--json"]);
    const answers = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(answers.toSorted((a, b) => a.index - b.index)).toMatchObject([
      { index: 0, line: 2, result: { best_move: { san: "Re8#" } }, problem: null, solved: true },
      { index: 1, line: 4, result: null, problem: { code: "illegal_position" }, solved: null },
    ]);
    expect([code, stderr]).toEqual([2, "kibitz: 2 positions, solved 1 of 1 (100.0 %), 1 refused\n"]);
  });

  test("kibitz eval --file applies the same options to each position, and accepts the word startpos as a position", async () => {
    const file = fileOf(
      startFen.replace(" 0 1", ' bm h3; id "named";'),
      "startpos",
      mate,
      "# four",
      "# five",
      "",
    );
    const args = ["--nodes", "2000", "--search-moves", "h3", "--json"];
    const { code, stdout } = await runKibitz(["eval", "-f", file, ...args]);
    const answers = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    const found = { best_move: { san: "h3" }, search: { stop_reason: "nodes" } };
    expect(answers.toSorted((a, b) => a.index - b.index)).toMatchObject([
      { result: found, solved: true },
      { result: found, solved: null },
      { result: found },
    ]);
    expect(code).toBe(0);
  });

  test("kibitz eval --file reads positions from standard input", async () => {
    const { code, stdout } = await runKibitz(["eval", "-f", "-", "-d", "4"], {}, [`${mate} bm `, "Re8;\n"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^ {4}1 ✓ .*\n +White mates in 1/);
  });

  test("kibitz eval --file reports an invalid line by its number in the file", async () => {
    const { stdout } = await runKibitz(["eval", "-f", fileOf("# one", "", "", "", bad), "--url", app.url]);
    expect(stdout).toMatch(/^ {4}5 {3}8\/8\/.*\n +Line 5 was refused: .*king/);
  });

  test("kibitz eval --file prints the results in the order of the file, even if later positions finish first", async () => {
    const file = fileOf(
      "r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R b KQkq -",
      bad,
      mate,
      bad,
      mate,
      bad,
    );
    const { stdout } = await runKibitz(["eval", "-f", file, "-d", "12"], { KIBITZ_SLOTS: "2" });
    expect(stdout.match(/^ {4}\d/gm)?.map(Number)).toEqual([1, 2, 3, 4, 5, 6]);
  });

  test("kibitz eval --file evaluates a file that has more positions than one batch request may have", async () => {
    const file = fileOf(...Array.from({ length: 205 }, () => `${mate} 0 1`));
    const { stdout } = await runKibitz(["eval", "-f", file, "-d", "1", "--json", "--url", app.url]);
    const indexes = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line).index as number);
    expect(indexes.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 205 }, (_, index) => index));
  });

  test.each([
    [["eval", "--file", "/nowhere.epd"], /^kibitz: cannot read \/nowhere\.epd: no such file or directory\n/],
    [["eval", "--file", fileOf("# nothing")], /has no positions: write one FEN or EPD per line/],
    [["eval", mate, "--file", "x"], /either a FEN or --file/],
    [["eval", "--file", fileOf(mate, mate, mate), "--depth", "31"], /`depth`.*31/],
  ])("kibitz eval --file refuses the arguments %j before an engine starts", async (args, message) => {
    const { code, stdout, stderr } = await runKibitz(args);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(message);
  });
});
