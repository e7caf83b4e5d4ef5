import fc from "fast-check";
import { expect, test } from "vitest";
import { createExpressLine } from "../../src/analysis/express-line.ts";

const accounts = fc.constantFrom("a", "b", "c", "d");

test("the order of the line is the order in which the work is served, and omits the excluded accounts", () => {
  fc.assert(
    fc.property(fc.array(accounts), fc.uniqueArray(accounts), (added, names) => {
      const line = createExpressLine<string>();
      const excluded = new Set(names);
      for (const [index, account] of added.entries()) {
        line.add(account, `${account}${index}`);
      }
      const order = [...line.order(excluded)];
      const served: string[] = [];
      for (let next = line.next(excluded); next !== undefined; next = line.next(excluded)) {
        const account = next.charAt(0);
        line.served(account);
        line.remove(account, next);
        served.push(next);
      }
      expect(order).toEqual(served);
      expect(served.length).toBe(added.filter((account) => !excluded.has(account)).length);
    }),
  );
});

test("new work of an account is served after its earlier work, and after as many turns of each other account", () => {
  const line = createExpressLine<string>();
  for (const name of ["a1", "a2", "a3", "b1", "b2", "c1"]) {
    line.add(name.charAt(0), name);
  }
  expect([...line.before("d", new Set())]).toEqual(["a1", "b1", "c1"]);
  expect([...line.before("c", new Set(["b"]))]).toEqual(["a1", "a2", "c1"]);
});
