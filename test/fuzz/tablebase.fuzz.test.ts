import { readdirSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openTablebase, type Tablebase } from "../../src/tablebase/tablebase.ts";
import { syzygyTables } from "../support/python-chess/syzygy-tables.ts";
import { differencesOf } from "../tablebase/python-chess/compare-endings.ts";
import { playOutWins } from "../tablebase/python-chess/play-out.ts";
import { budgetOf, countFromEnv } from "./budget.ts";
import { startProgress } from "./progress.ts";
import { type Referee, startReferee } from "./referee/referee.ts";

/** The number of positions of each table in a round. */
const positionsPerRound = 100;

const { seed, milliseconds } = budgetOf("tablebase");
const count = countFromEnv("FUZZ_ENDINGS");
const folder = syzygyTables();
const names = readdirSync(folder).flatMap((file) => (file.endsWith(".rtbw") ? [file.slice(0, -5)] : []));
let referee: Referee;
let tablebase: Tablebase;

beforeAll(async () => {
  referee = startReferee();
  tablebase = await openTablebase([folder]);
});

afterAll(async () => {
  referee[Symbol.dispose]();
  await tablebase[Symbol.asyncDispose]();
});

test("results and distances of random endings equal those of python-chess", async () => {
  const progress = startProgress("tablebase", seed);
  let compared = 0;
  const isOver = () => (count === undefined ? progress.elapsedMs() >= milliseconds : compared >= count);
  for (let round = seed; round === seed || !isOver(); round++) {
    for (const name of names) {
      const endings = await referee.setUpEndings(folder, name, round, positionsPerRound);
      const hint = `${name}; to run it again: FUZZ_SEED=${round} npm run lane -- fuzz tablebase`;
      expect(await differencesOf(tablebase, endings), hint).toEqual([]);
      compared += endings.length;
    }
    progress.sometimes(compared, () => "");
  }
  progress.done(compared, "");
});

test.each(["KPvK", "KQvK"])(
  "every position of %s with a white king on c3 equals python-chess",
  async (name) => {
    const endings = await referee.listEndings(folder, name, 18);
    expect(endings.length).toBeGreaterThan(2000);
    expect(await differencesOf(tablebase, endings)).toEqual([]);
  },
);

test.each(["KBNvK", "KQvKR", "KRvKP", "KPvK", "KPvKP", "KRvKN"])(
  "wins of %s are won within the fifty-move rule against the longest defence of python-chess, and are cursed beyond it",
  async (name) => {
    const endings = await referee.setUpEndings(folder, name, seed, 10 * positionsPerRound);
    await playOutWins(tablebase, referee, folder, endings, 4);
  },
);
