import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { createEnginesInProcess } from "../support/engines-in-process.ts";
import { useApp } from "../support/running-app.ts";
import { tablesFolder, verifyTablesOf } from "../support/tables.ts";
import { useTemporaryFolder } from "../support/temporary-folder.ts";
import { runKibitz } from "./run-kibitz.ts";
import { startUci } from "./uci/start-session.ts";

/** The black king attacks the rook. The fake engine moves the white king, and loses the rook. */
const rookHangs = "8/8/8/3k4/4R3/8/8/K7 w - - 0 1";
const settings = { KIBITZ_SYZYGY: tablesFolder };

const app = useApp(settings, { engines: createEnginesInProcess() });
beforeAll(() => verifyTablesOf(app.url));

const folder = useTemporaryFolder();
function fileOf(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

/** In this process, a real engine runs. */
const places = [
  ["", [] as readonly string[], settings],
  [" --url", ["--url"], {}],
] as const;

for (const [place, url, env] of places) {
  const kibitz = async (...args: readonly string[]) => {
    const { code, stdout } = await runKibitz([...args, ...url, ...url.map(() => app.url)], env);
    expect(code).toBe(0);
    return stdout;
  };

  test(`kibitz eval${place} and kibitz bestmove${place} print the result that endgame tables know`, async () => {
    const distance = /^White wins \(tablebase\), about \d+ plies to the next capture, pawn move or mate$/m;
    const evaluated = await kibitz("eval", rookHangs, "-d", "4");
    expect(evaluated).toMatch(/^White wins \(tablebase\)\. Best move: R\S+\.\n/);
    expect(evaluated).toMatch(distance);
    const moved = await kibitz("bestmove", rookHangs, "-d", "4");
    expect(moved).toMatch(/^1\. R\S+ \(e4\w\w\), /);
    expect(moved).toMatch(distance);
  });

  test(`kibitz eval${place} --json and --file have the result that endgame tables know`, async () => {
    const tablebase = { category: "win", winner: "white", men: 3, dtz_plies: expect.any(Number) };
    const json = await kibitz("eval", rookHangs, "-d", "4", "--json");
    expect(JSON.parse(json)).toMatchObject({ tablebase });
    const file = fileOf("positions.epd", `${rookHangs}\n8/8/8/8/8/2k5/8/K6Q w - - 98 80\n`);
    const rows = await kibitz("eval", "--file", file, "-d", "4");
    expect(rows).toMatch(
      /^ +1 .+\n +White wins \(tablebase\)\. Best move: R.+\n +2 .+\n +Draw by the fifty-move rule \(tablebase\)\. /,
    );
    const lines = (await kibitz("eval", "--file", file, "-d", "4", "--json")).trim().split("\n");
    expect(lines.map((line) => JSON.parse(line).result.tablebase.category).toSorted()).toEqual([
      "cursed_win",
      "win",
    ]);
  });

  test(`kibitz review${place} prints the results by which moves are judged`, async () => {
    const game = fileOf(
      "game.pgn",
      `[SetUp "1"]\n[FEN "${rookHangs}"]\n\n1. Rh4 Kd6 2. Ra4 Kc5 3. Ka2 Kb5 4. Kb1 *\n`,
    );
    expect(await kibitz("review", game, "-d", "4")).toMatch(
      /4\. Kb1\?\? +\(White wins \(tablebase\) → Draw \(tablebase\)\) Blunder\. 4\. (R|Ka3)/,
    );
    const review = JSON.parse(await kibitz("review", game, "-d", "4", "--json"));
    expect(review.moves.at(-1)).toMatchObject({ judgement: "blunder", tablebase: { category: "draw" } });
  });
}

test("kibitz uci plays the move of the endgame tables, and an info string gives the reason", async () => {
  const { say, until, hangUp, ended } = startUci(["--url", app.url]);
  onTestFinished(async () => {
    hangUp();
    await ended;
  });
  say("uci", `position fen ${rookHangs}`, "go depth 4");
  const lines = await until(/^bestmove /);
  expect(lines.at(-1)).toMatch(/^bestmove e4\w\w$/);
  expect(lines.at(-2)).toMatch(/^info string The engine's move Ka2 .*endgame tables/);
  expect(lines.at(-3)).toMatch(/^info depth 4 .* score cp \d+ .* pv a1a2 /);
});
