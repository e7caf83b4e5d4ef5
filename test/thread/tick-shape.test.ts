import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { keepTickShape } from "../../src/thread/tick-shape.ts";

describe("the shape of Node's tick objects", () => {
  test("is kept by one of them", () => {
    const tick = keepTickShape().at(-1);
    expect(tick).toHaveProperty("callback");
    expect(Object.getOwnPropertySymbols(tick ?? {}).length).toBeGreaterThan(1);
  });

  test("is kept without a look at promises, which would make each await slower", () => {
    const file = fileURLToPath(new URL("../../src/thread/tick-shape.ts", import.meta.url));
    const program = `(await import(${JSON.stringify(file)})).keepTickShape(); console.log("kept");`;
    const flags = ["--trace-protector-invalidation", "--input-type=module", "--eval", program];
    const printed = execFileSync(process.execPath, flags, { encoding: "utf8" });
    expect(printed).toContain("kept");
    expect(printed).not.toContain("PromiseHook");
  });
});
