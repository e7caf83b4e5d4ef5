import { describe, expect, test } from "vitest";
import { keepTickShape } from "../../src/thread/tick-shape.ts";

describe("the shape of Node's tick objects", () => {
  test("is kept by one of them", () => {
    const tick = keepTickShape().at(-1);
    expect(tick).toHaveProperty("callback");
    expect(Object.getOwnPropertySymbols(tick ?? {}).length).toBeGreaterThan(1);
  });
});
