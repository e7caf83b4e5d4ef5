import { describe, expect, test } from "vitest";
import { createArrivals, type Policy, simulate } from "../../bench/balancing/simulate.ts";

const meanOf = (values: Float64Array) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** Times without memory, for which the mean wait is known. */
const exponential = (random: { real(): number }) => -1000 * Math.log(1 - random.real());

const load = { nodes: 4, slots: 1, load: 0.7, arrivals: 100_000, seed: 7 };
const arrivals = createArrivals(load, exponential, 1000);
const waits = (policy: Policy) => meanOf(simulate(policy, load, arrivals));

describe("the simulation of balancers", () => {
  test("waits in one queue as long as Erlang says", () => {
    // C(4, 2.8) / (4 − 2.8) of a service time of 1000 ms.
    expect(waits("one central queue") / 357.2).toBeCloseTo(1, 1);
  });

  test("waits behind random choice as in front of one server each", () => {
    // ρ / (1 − ρ) of a service time.
    expect(waits("random") / 2333).toBeCloseTo(1, 1);
  });

  test("finds looking at all between one queue and looking at two, and that before random choice", () => {
    const order: readonly Policy[] = [
      "one central queue",
      "least, of all",
      "two, not sharing",
      "least, of two",
      "round robin",
      "random",
    ];
    const found = order.map(waits);
    expect(found).toEqual(found.toSorted((a, b) => a - b));
  });

  test("gives the same numbers for the same seed", () => {
    const again = createArrivals(load, exponential, 1000);
    expect(simulate("least, of two", load, again)).toEqual(simulate("least, of two", load, arrivals));
    const others = createArrivals({ ...load, seed: 8 }, exponential, 1000);
    expect(others.atMs).not.toEqual(arrivals.atMs);
  });
});
