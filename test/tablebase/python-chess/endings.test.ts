import { readdirSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openTablebase, type Tablebase } from "../../../src/tablebase/tablebase.ts";
import { type Referee, startReferee } from "../../fuzz/referee/referee.ts";
import { syzygyTables } from "../../support/python-chess/syzygy-tables.ts";
import { differencesOf } from "./compare-endings.ts";
import { playOutWins } from "./play-out.ts";

const folder = syzygyTables();
const names = readdirSync(folder).flatMap((file) => (file.endsWith(".rtbw") ? [file.slice(0, -5)] : []));
const seed = 1;
/** More positions, and more games, are compared at night: `test/fuzz/tablebase.fuzz.test.ts`. */
const positionsOfTable = 100;

let tablebase: Tablebase;
let referee: Referee;

beforeAll(async () => {
  tablebase = await openTablebase([folder], {
    onProblem: (path, problem) => expect.fail(`${path} ${problem}`),
  });
  referee = startReferee();
});

afterAll(async () => {
  referee[Symbol.dispose]();
  await tablebase[Symbol.asyncDispose]();
});

test("there are all 35 tables of three and four men", () => {
  expect(names).toHaveLength(35);
  expect(tablebase.summary()).toMatchObject({ men: 4, tables: 35 });
});

test.each(names)("results and distances of %s equal those of python-chess", async (name) => {
  const endings = await referee.setUpEndings(folder, name, seed, positionsOfTable);
  expect(await differencesOf(tablebase, endings)).toEqual([]);
});

test.each(["KQvKR", "KPvKP"])(
  "a win of %s is won within the fifty-move rule against the longest defence of python-chess, and is cursed beyond it",
  async (name) => {
    const endings = await referee.setUpEndings(folder, name, seed, 2 * positionsOfTable);
    await playOutWins(tablebase, referee, folder, endings, 1);
  },
);
