import { expect, test } from "vitest";
import { createTimeSlicer } from "../../src/thread/time-slices.ts";

/** Runs two tasks of four steps each. Returns the order of the steps by task name, with `-` for each event loop iteration. */
async function watchWork(pieceMs: number): Promise<string> {
  const clock = { ms: 0 };
  const beginWork = createTimeSlicer(() => clock.ms);
  const order: string[] = [];
  const work = async (name: string) => {
    const turn = beginWork();
    const two = async () => {
      for (let piece = 1; piece <= 2; piece++) {
        await turn();
        order.push(name);
        clock.ms += pieceMs;
      }
    };
    await Promise.all([two(), two()]);
  };
  let working = true;
  const bystander = () => {
    order.push("-");
    if (working) {
      setImmediate(bystander);
    }
  };
  setImmediate(bystander);
  await Promise.all([work("a"), work("b")]);
  working = false;
  return order.join("");
}

test("only one long step runs in each event loop iteration, and the two tasks alternate", async () => {
  expect(await watchWork(6)).toMatch(/^-*(a-+b-+){3}a-+b-*$/);
});

test("short steps of a task run together in one event loop iteration", async () => {
  expect(await watchWork(0.25)).toMatch(/^-*aaaa-+bbbb-*$/);
});
