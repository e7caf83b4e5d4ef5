import { expect, test } from "vitest";
import { createRandom } from "../support/random.ts";
import { allPairs, grammar, type Parts, randomParts } from "./steps/request-grammar.ts";

const names = Object.keys(grammar) as (keyof Parts)[];

test("the requests of the grammar contain each pair of values, with few requests", () => {
  const requests = allPairs(createRandom(1));
  const found = new Set<string>();
  let pairs = 0;
  for (const [at, first] of names.entries()) {
    for (const second of names.slice(at + 1)) {
      pairs += grammar[first].length * grammar[second].length;
      for (const parts of requests) {
        found.add(JSON.stringify([first, parts[first] ?? null, second, parts[second] ?? null]));
      }
    }
  }
  expect(found.size).toBe(pairs);
  expect(requests.length).toBeLessThan(pairs / 5);
});

test("random requests of the grammar contain each value, and most are ordinary", () => {
  const random = createRandom(1);
  const requests = Array.from({ length: 3000 }, () => randomParts(random));
  for (const name of names) {
    expect(new Set(requests.map((parts) => parts[name])).size, name).toBe(grammar[name].length);
    const ordinary = requests.filter((parts) => parts[name] === grammar[name][0]).length;
    expect(ordinary, name).toBeGreaterThan(1900);
  }
});
