import { afterAll, beforeAll, expect, test } from "vitest";
import { createRandom } from "../support/random.ts";
import { budgetOf, countFromEnv } from "./budget.ts";
import { corpusOf, knownFens } from "./corpus.ts";
import { startProgress } from "./progress.ts";
import { type Comparison, compareAll } from "./referee/compare.ts";
import { mutateFen } from "./referee/mutate-fen.ts";
import { policy } from "./referee/policy.ts";
import { type Question, type Referee, startReferee } from "./referee/referee.ts";
import { shrinkFen } from "./referee/shrink-fen.ts";

/** The number of mutated FENs in each round. */
const mutantsPerRound = 5000;
const roundPositions = 1000;
const batch = 500;
/** After this number of mutated FENs, every row of the policy must have been used. Otherwise, the mutations are too simple. */
const enoughForAllRows = 50_000;

const { seed, milliseconds } = budgetOf("referee");
const count = countFromEnv("FUZZ_FENS");
let referee: Referee;

beforeAll(() => {
  referee = startReferee();
});

afterAll(() => referee[Symbol.dispose]());

test("every difference between Kibitz and python-chess in the validation of a FEN is a listed difference, and every listed difference occurs", async () => {
  const progress = startProgress("referee", seed);
  const rows = new Map<string, number>();
  const unreached = () => policy.map(({ id }) => id).filter((id) => !rows.has(id));
  const counts = { asked: 0, accepted: 0, fromGames: 0 };

  async function compare(questions: readonly Question[], hint: string): Promise<void> {
    for (let from = 0; from < questions.length; from += batch) {
      for (const comparison of await compareAll(questions.slice(from, from + batch), referee)) {
        if (comparison.difference !== undefined) {
          expect.fail(await reportOf(comparison, hint));
        }
        counts.asked++;
        counts.accepted += comparison.accepted ? 1 : 0;
        for (const row of comparison.rows) {
          rows.set(row, (rows.get(row) ?? 0) + 1);
        }
      }
    }
  }

  const known = [...corpusOf<Question>("referee"), ...knownFens().map((fen) => [fen, false] as const)];
  await compare([...known, ...known.map(([fen]) => [fen, true] as const)], "In the corpus.");
  // Delete a row that none of these FENs uses, or add a FEN for the row to the corpus.
  expect(unreached()).toEqual([]);
  rows.clear();

  const isOver = () =>
    count === undefined ? progress.elapsedMs() >= milliseconds : counts.asked - counts.fromGames >= count;
  for (let round = seed; round === seed || !isOver(); round++) {
    const hint = `To run it again: FUZZ_SEED=${round} npm run lane -- fuzz referee`;
    const positions = await referee.playGames(round, roundPositions);
    const before = counts.asked - counts.accepted;
    await compare(
      positions.map(({ question }) => question),
      hint,
    );
    expect(counts.asked - counts.accepted, `refused from games; ${hint}`).toBe(before);
    counts.fromGames += positions.length;

    const random = createRandom(round);
    const bases = [...positions.map(({ question }) => question), ...known];
    const mutants = Array.from({ length: mutantsPerRound }, (): Question => {
      const [fen, chess960] = random.pick(bases);
      return [mutateFen(fen, random), random.below(8) === 0 ? !chess960 : chess960];
    });
    await compare(mutants, hint);
    progress.sometimes(counts.asked, () => JSON.stringify(counts));
  }
  progress.done(
    counts.asked,
    `${JSON.stringify(counts)}, by the policy ${JSON.stringify(Object.fromEntries(rows))}`,
  );

  if (count !== undefined && count >= enoughForAllRows) {
    expect(unreached()).toEqual([]);
  }
});

async function reportOf({ question, rows, difference }: Comparison, hint: string): Promise<string> {
  const stillDiffers = async (fen: string) =>
    (await compareAll([[fen, question[1]]], referee))[0]?.difference !== undefined;
  const shrunk = await shrinkFen(question[0], stillDiffers);
  const [last] = await compareAll([[shrunk, question[1]]], referee);
  const asked = (fen: string) => JSON.stringify([fen, question[1]]);
  return [
    `The judge: ${difference}. Rows of the policy: ${rows.join(", ") || "none"}.`,
    `Asked: ${asked(question[0])}`,
    `Shrunk: ${asked(shrunk)}, where the judge: ${last?.difference}.`,
    hint,
  ].join("\n");
}
