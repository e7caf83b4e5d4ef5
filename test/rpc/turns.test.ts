import { expect, test } from "vitest";
import { createTurns } from "../../src/rpc/turns.ts";

test("everybody gets a turn of the event loop, in the order of asking, and others get theirs between", async () => {
  const turn = createTurns();
  const order: string[] = [];
  const worker = async (name: string) => {
    for (let work = 1; work <= 3; work++) {
      await turn();
      order.push(name);
    }
  };
  let working = true;
  const bystander = () => {
    order.push("-");
    if (working) {
      setImmediate(bystander);
    }
  };
  setImmediate(bystander);
  await Promise.all([worker("a"), worker("b")]);
  working = false;
  expect(order.join("")).toMatch(/^-*(a-+b-+){2}a-+b-*$/);
});
