import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import type { Analysis } from "../../src/analysis/analysis.ts";
import type { Analyzer } from "../../src/analysis/analyzer.ts";
import type { Followed } from "../../src/analysis/flight.ts";
import { KibitzError } from "../../src/errors/errors.ts";
import { type ReviewOptions, type ReviewStep, reviewGame } from "../../src/services/review-game.ts";
import { createTimeSlicer } from "../../src/thread/time-slices.ts";
import { evaluate, gameOf } from "../game/games.ts";

const game = gameOf("1. e4 e5 2. Nf3 Nc6");
const evaluations = evaluate(game, []);
const requests = game.positions.map((position) => ({ position, multipv: 1 }));
const plyOf = (request: object) => requests.indexOf(request as (typeof requests)[number]);

const analysisOf = (ply: number, others: Partial<Analysis> = {}) =>
  ({ ...evaluations[ply], cached: false, cutShort: false, ...others }) as Analysis;

const overloaded = () => new KibitzError("overloaded", "Busy.", { retryAfterMs: 1 });

interface Fakes {
  follow(ply: number, signal: AbortSignal): AsyncIterable<Followed>;
  options?: Partial<ReviewOptions>;
  signal?: AbortSignal;
}

function review({ follow, options, signal = new AbortController().signal }: Fakes) {
  const analyzer = {
    follow: (request: object, _flow: string, either: AbortSignal) => follow(plyOf(request), either),
    async analyze(request: object, _flow: string, either: AbortSignal) {
      const all = await Array.fromAsync(follow(plyOf(request), either));
      const last = all.at(-1);
      return last?.kind === "state" ? last.analysis : expect.fail("no state");
    },
  } as unknown as Analyzer;
  return reviewGame(
    { game, requests: requests as never },
    {
      analyzer,
      openings: { find: () => undefined },
      flow: "somebody",
      searchesAtOnce: 3,
      turn: createTimeSlicer()(),
      ...options,
    },
    signal,
  );
}

const kindsOf = (steps: readonly ReviewStep[]) =>
  steps.map((step) => (step.kind === "move" ? step.move.move.san : step.kind));

test("a review reports its moves in order, even if their searches finish in another order", async () => {
  const steps = await Array.fromAsync(
    review({
      async *follow(ply) {
        await sleep(ply % 2 === 0 ? 20 : 1);
        yield { kind: "state", analysis: analysisOf(ply) };
      },
    }),
  );
  expect(kindsOf(steps)).toEqual(["e4", "e5", "Nf3", "Nc6", "review"]);
  const last = steps.at(-1);
  const analyses = last?.kind === "review" ? last.reviewed.analyses : [];
  expect(analyses.map(({ score }) => score)).toEqual(evaluations.map(({ score }) => score));
});

test("a review reports only the queue positions of its first search", async () => {
  const steps = await Array.fromAsync(
    review({
      async *follow(ply) {
        yield { kind: "waiting", at: { place: ply + 1, expectedWaitMs: 5 } };
        await sleep(ply === 0 ? 5 : 10);
        yield { kind: "waiting", at: { place: ply + 20, expectedWaitMs: 1 } };
        await sleep(5);
        yield { kind: "state", analysis: analysisOf(ply) };
      },
    }),
  );
  const places = steps.flatMap((step) => (step.kind === "waiting" ? [step.at.place] : []));
  expect(places).toEqual([1, 20]);
  expect(kindsOf(steps).slice(2)).toEqual(["e4", "e5", "Nf3", "Nc6", "review"]);
});

test("if the first search of a review is refused, the review is refused and its other searches are stopped", async () => {
  const stopped: number[] = [];
  const asked = review({
    async *follow(ply, signal) {
      if (ply > 0) {
        await sleep(60_000, undefined, { signal }).catch(() => void stopped.push(ply));
      }
      throw overloaded();
    },
  });
  await expect(Array.fromAsync(asked)).rejects.toMatchObject({ code: "overloaded" });
  expect(stopped).toEqual([1, 2]);
});

test("if a later search of a review is refused, the service retries the search, which does not count towards the limit while waiting", async () => {
  let tries = 0;
  let held = 0;
  let most = 0;
  const chargeSearch: ReviewOptions["chargeSearch"] = async (_request, _signal, stack) => {
    most = Math.max(most, ++held);
    stack.defer(() => held--);
    return {} as never;
  };
  const steps = await Array.fromAsync(
    review({
      async *follow(ply) {
        if (ply === 3 && tries++ < 2) {
          throw overloaded();
        }
        yield { kind: "state", analysis: analysisOf(ply) };
      },
      options: { chargeSearch, searchesAtOnce: 2 },
    }),
  );
  expect(kindsOf(steps)).toEqual(["e4", "e5", "Nf3", "Nc6", "review"]);
  expect([tries, held, most]).toEqual([3, 0, 2]);
});

test("each search of a review counts towards its caller's limit until the search has ended", async () => {
  let held = 0;
  const heldInSearch: number[] = [];
  const chargeSearch: ReviewOptions["chargeSearch"] = async (_request, _signal, stack) => {
    held++;
    stack.defer(() => held--);
    return {} as never;
  };
  await Array.fromAsync(
    review({
      async *follow(ply) {
        await sleep(1);
        heldInSearch.push(held);
        yield { kind: "state", analysis: analysisOf(ply) };
      },
      options: { chargeSearch, searchesAtOnce: 1 },
    }),
  );
  expect(heldInSearch).toEqual([1, 1, 1, 1, 1]);
});

test("a review fails if one of its searches was stopped early", async () => {
  const asked = review({
    async *follow(ply) {
      yield { kind: "state", analysis: analysisOf(ply, { cutShort: ply === 2 }) };
    },
  });
  await expect(Array.fromAsync(asked)).rejects.toMatchObject({ code: "shutting_down", retryable: true });
});

test("the searches of a review stop when the client disconnects", async () => {
  let running = 0;
  const asked = review({
    async *follow(ply, signal) {
      if (ply > 1) {
        running++;
        await sleep(60_000, undefined, { signal }).finally(() => running--);
      }
      yield { kind: "state", analysis: analysisOf(ply) };
    },
  });
  expect((await asked.next()).value?.kind).toBe("move");
  expect(running).toBeGreaterThan(0);
  await asked.return(undefined);
  expect(running).toBe(0);
});
