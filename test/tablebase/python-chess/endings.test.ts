import { readdirSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openTablebase, type Tablebase } from "../../../src/tablebase/tablebase.ts";
import { positionOf } from "../../chess/validated.ts";
import { type Referee, startReferee } from "../../fuzz/referee/referee.ts";
import { syzygyTables } from "../../support/python-chess/syzygy-tables.ts";
import { createRandom } from "../../support/random.ts";
import { differencesOf } from "./compare-endings.ts";

const folder = syzygyTables();
const names = readdirSync(folder).flatMap((file) => (file.endsWith(".rtbw") ? [file.slice(0, -5)] : []));
const seed = 1;
const positionsOfTable = 200;

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
    const random = createRandom(seed);
    const endings = await referee.setUpEndings(folder, name, seed, 200);
    const wins = endings.filter(({ result, distance }) => result === 2 && distance > 1);
    expect(wins.length).toBeGreaterThan(5);
    for (const { fen, distance } of [...wins].sort((a, b) => b.distance - a.distance).slice(0, 4)) {
      const latest = withClock(fen, 99 - distance);
      expect(await categoryOf(latest)).toBe("win");
      expect(await playOut(latest), latest).toBe("mate");

      for (const clock of [100 - distance, 101 - distance + random.below(3)]) {
        expect(await categoryOf(withClock(fen, clock))).toBe("cursed_win");
      }
      // Even the shortest way is too long by a ply, or more if the distance is rounded.
      expect(await playOut(withClock(fen, 102 - distance))).toBe("draw");
    }
  },
);

function withClock(fen: string, clock: number): string {
  const fields = fen.split(" ");
  return [...fields.slice(0, 4), clock, 60].join(" ");
}

async function categoryOf(fen: string): Promise<string> {
  const answer = await tablebase.probe(positionOf(fen));
  return answer.kind === "known" ? answer.value.category : answer.message;
}

/** Plays the first move of the table for the side that wins, and the move of python-chess for the other side. */
async function playOut(fen: string): Promise<"mate" | "draw"> {
  let position = positionOf(fen);
  for (;;) {
    const answer = await tablebase.probeMoves(position);
    const [best] = answer.kind === "known" ? answer.value.moves : [];
    if (!best) {
      return "draw";
    }
    position = positionOf(position.fen, { moves: [best.uci] });
    if (position.terminal) {
      return position.terminal.reason === "checkmate" ? "mate" : "draw";
    }
    const reply = await referee.defend(folder, position.fen);
    if (reply === undefined) {
      return "draw";
    }
    position = positionOf(position.fen, { moves: [reply] });
  }
}
