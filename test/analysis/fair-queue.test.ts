import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createFairQueue, type FairQueue, type Waiting } from "../../src/analysis/fair-queue.ts";
import { createRandom } from "../support/random.ts";

interface Piece extends Waiting {
  readonly value: string;
}

function waitingOf(flow: string, costMs: number, overrides: Partial<Piece> = {}): Piece {
  return { flow, costMs, dueMs: costMs, value: `${flow} ${costMs}`, ...overrides };
}

const taken = (queue: FairQueue<Piece>, count: number) =>
  Array.from({ length: count }, () => queue.take()?.value);

describe("virtual time", () => {
  test("a caller gets no additional priority if the caller's short search overtakes the caller's long search", () => {
    const queue = createFairQueue<Piece>();
    queue.add(waitingOf("a", 1000, { value: "long" }));
    for (let index = 0; index < 60; index++) {
      queue.add(waitingOf("b", 10, { dueMs: index }));
    }
    taken(queue, 50);
    queue.add(waitingOf("a", 10, { value: "overtakes" }));
    expect(queue.take()?.value).toBe("overtakes");
    // The newcomer's work costs as much as all work of flow b so far. Therefore the queue serves the rest of b first.
    queue.add(waitingOf("newcomer", 490));
    expect(taken(queue, 10)).toEqual(Array.from({ length: 10 }, () => "b 10"));
  });
});

describe("a newcomer beside a flow with much waiting work", () => {
  test("the first search of a new caller is served before many equal searches of another caller, and then the callers alternate", () => {
    const queue = createFairQueue<Piece>();
    for (let index = 0; index < 1000; index++) {
      queue.add(waitingOf("many", 100, { dueMs: index }));
    }
    taken(queue, 3);
    const newcomer = waitingOf("newcomer", 100);
    expect(queue.before(newcomer)).toEqual({ count: 0, workMs: 0 });
    queue.add(newcomer);
    queue.add(waitingOf("newcomer", 100, { dueMs: 101, value: "newcomer's second" }));
    expect(taken(queue, 4)).toEqual(["newcomer 100", "many 100", "many 100", "newcomer's second"]);
  });

  test("the estimate for the first search of a new caller excludes the searches that were served since the last sorting", () => {
    const queue = createFairQueue<Piece>();
    for (let index = 0; index < 1000; index++) {
      queue.add(waitingOf("many", 100, { dueMs: index }));
    }
    const newcomer = waitingOf("newcomer", 100);
    for (let served = 0; served < 5; served++) {
      expect(queue.before(newcomer)).toEqual({ count: 0, workMs: 0 });
      expect(queue.before(waitingOf("newcomer", 1000))).toEqual({ count: 9, workMs: 900 });
      taken(queue, 1);
    }
  });

  test("a new caller is served next, even if the expected time of all waiting searches has increased", () => {
    const queue = createFairQueue<Piece>();
    const many = Array.from({ length: 100 }, (_, index) => ({
      flow: "many",
      dueMs: index,
      value: `many ${index}`,
      costMs: 9,
    }));
    many.forEach(queue.add);
    taken(queue, 3);
    for (const waiting of many) {
      waiting.costMs = 400;
    }
    const newcomer = waitingOf("newcomer", 400);
    expect(queue.before(newcomer)).toEqual({ count: 0, workMs: 0 });
    expect(queue.before(waitingOf("many", 400)).workMs).toBe(97 * 400);
    queue.add(newcomer);
    expect(taken(queue, 2)).toEqual(["newcomer 400", "many 3"]);
  });

  test("a new caller waits behind callers that arrived earlier", () => {
    const queue = createFairQueue<Piece>();
    for (const flow of ["many", "many", "first", "second"]) {
      queue.add(waitingOf(flow, 100));
    }
    expect(taken(queue, 4)).toEqual(["many 100", "first 100", "second 100", "many 100"]);
  });
});

type Step =
  | { readonly kind: "add"; readonly flow: string; readonly costMs: number }
  | { readonly kind: "remove"; readonly at: number }
  | { readonly kind: "take" };

const flowNames = ["a", "b", "c", "d"];
const costs = [1, 10, 100, 1000];
const add = fc.record({
  kind: fc.constant("add" as const),
  flow: fc.constantFrom(...flowNames),
  costMs: fc.constantFrom(...costs),
});
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    { weight: 5, arbitrary: add },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant("remove" as const), at: fc.nat(50) }) },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant("take" as const) }) },
  ),
  { minLength: 20, maxLength: 120 },
);

/** Applies the steps to a queue, one step in each simulated millisecond. Then takes all waiting searches from the queue. */
function play(
  all: readonly Step[],
  { changed }: { readonly changed?: (waiting: readonly Piece[], served?: Piece) => void },
) {
  const queue = createFairQueue<Piece>();
  const waiting: Piece[] = [];
  const served: Piece[] = [];
  const orders: (readonly Piece[])[] = [];
  const take = () => {
    const order = queue.order();
    const piece = queue.take();
    if (piece) {
      orders.push(order);
      served.push(piece);
      waiting.splice(waiting.indexOf(piece), 1);
      changed?.(waiting, piece);
    }
    return piece;
  };
  let asked = 0;
  let removed = 0;
  for (const [now, step] of all.entries()) {
    if (step.kind === "add") {
      const { flow, costMs } = step;
      const piece = { flow, costMs, dueMs: now + costMs, value: String(asked++) };
      waiting.push(piece);
      queue.add(piece);
      changed?.(waiting);
    } else if (step.kind === "take") {
      take();
    } else if (waiting.length > 0) {
      const [piece] = waiting.splice(step.at % waiting.length, 1);
      queue.remove(piece as Piece);
      removed++;
      changed?.(waiting);
    }
  }
  const lastOrder = queue.order();
  while (take()) {
    // Each call of `take` serves the next work.
  }
  return { asked, removed, served, orders, lastOrder };
}

describe("whatever comes, leaves and is served", () => {
  test("every search that is not removed from the queue is served exactly once", () => {
    fc.assert(
      fc.property(steps, (all) => {
        const { asked, removed, served } = play(all, {});
        expect(new Set(served).size).toBe(served.length);
        expect(served.length + removed).toBe(asked);
      }),
    );
  });

  test("the order of the queue is the order in which the searches are served", () => {
    fc.assert(
      fc.property(steps, (all) => {
        const { orders, served } = play(all, {});
        expect(orders.map(([first]) => first)).toEqual(served);
        expect(orders.every((order) => new Set(order).size === order.length)).toBe(true);
      }),
    );
  });

  test("at the end, the rest of the queue is served in the order of the queue", () => {
    fc.assert(
      fc.property(steps, (all) => {
        const { lastOrder, served } = play(all, {});
        expect(served.slice(served.length - lastOrder.length)).toEqual(lastOrder);
      }),
    );
  });

  test("a new caller gets at most as much time as a waiting caller, plus the longest search of each caller", () => {
    fc.assert(
      fc.property(steps, (all) => {
        /** The engine time that each caller of a pair got while both callers had a waiting search. */
        const sides = new Map<
          string,
          { newMs: number; otherMs: number; newMaxMs: number; otherMaxMs: number }
        >();
        const flowsOf = (pieces: readonly Piece[]) => new Set(pieces.map(({ flow }) => flow));
        const longest = (pieces: readonly Piece[], name: string) =>
          Math.max(0, ...pieces.filter(({ flow }) => flow === name).map(({ costMs }) => costMs));
        let before = new Set<string>();
        /** The largest amount by which the engine time of a new caller exceeded the allowed engine time. */
        let beyondMs = 0;
        play(all, {
          changed(waiting, served) {
            const now = flowsOf(served ? [...waiting, served] : waiting);
            for (const newcomer of flowNames) {
              for (const other of flowNames.filter((name) => name !== newcomer)) {
                const pair = `${newcomer} beside ${other}`;
                const bothWait = now.has(newcomer) && now.has(other);
                if (!bothWait) {
                  sides.delete(pair);
                } else if (!before.has(newcomer)) {
                  sides.set(pair, { newMs: 0, otherMs: 0, newMaxMs: 0, otherMaxMs: 0 });
                }
                const side = sides.get(pair);
                if (side) {
                  side.newMaxMs = Math.max(side.newMaxMs, longest(waiting, newcomer));
                  side.otherMaxMs = Math.max(side.otherMaxMs, longest(waiting, other));
                  side.newMs += served?.flow === newcomer ? served.costMs : 0;
                  side.otherMs += served?.flow === other ? served.costMs : 0;
                  // Golestani's bound for self-clocked fair queueing: the sum of the longest work of each flow.
                  const boundMs = side.newMaxMs + side.otherMaxMs;
                  beyondMs = Math.max(beyondMs, side.newMs - side.otherMs - boundMs);
                }
              }
            }
            before = flowsOf(waiting);
          },
        });
        expect(beyondMs).toBe(0);
      }),
      { numRuns: 1000 },
    );
  });
});

describe("a long queue", () => {
  test("the estimate for a new search is off by at most a sixteenth of the queue, while searches come and go", () => {
    const random = createRandom(7);
    const queue = createFairQueue<Piece>();
    const waiting: Piece[] = [];
    for (let now = 0; now < 3000; now++) {
      // Prime costs, so that few searches have the same tag.
      const costMs = random.pick([2, 31, 307, 3001]) + random.below(1000) / 1000;
      const piece = waitingOf(`flow ${random.below(50)}`, costMs, { dueMs: now + costMs });
      const estimate = queue.before(piece).count;
      queue.add(piece);
      waiting.push(piece);
      const place = queue.order().indexOf(piece);
      expect(Math.abs(place - estimate)).toBeLessThanOrEqual(1 + waiting.length / 16);
      if (random.below(3) === 0) {
        const taken = random.below(2) === 0 ? queue.take() : random.pick(waiting);
        queue.remove(taken as Piece);
        waiting.splice(waiting.indexOf(taken as Piece), 1);
      }
    }
    expect(waiting.length).toBeGreaterThan(1500);
  });
});
