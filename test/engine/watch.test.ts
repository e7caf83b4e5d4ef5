import { expect, test } from "vitest";
import { createFloodMeter } from "../../src/engine/uci/watch.ts";

/** 100,000 characters, including the line end. An engine may print ten of these lines at once. */
const line = "x".repeat(99_999);

function openMeter() {
  const clock = { ms: 5000 };
  const meter = createFloodMeter(() => clock.ms);
  return { clock, meter, floodsAfter: (lines: number) => pour(meter, lines) };
}
const pour = (meter: ReturnType<typeof createFloodMeter>, lines: number) =>
  Array.from({ length: lines }, () => meter.floods(line)).at(-1);

test("an engine exceeds the output limit if it prints more than a million characters at once", () => {
  const { meter, floodsAfter } = openMeter();
  expect(floodsAfter(10)).toBe(false);
  expect(meter.floods("")).toBe(true);
});

test("the output limit allows 250,000 further characters every second", () => {
  const { clock, meter, floodsAfter } = openMeter();
  floodsAfter(10);
  clock.ms += 2000;
  expect(floodsAfter(5)).toBe(false);
  expect(meter.floods("")).toBe(true);
});

test("a reset of the output limit allows a million characters again", () => {
  const { clock, meter, floodsAfter } = openMeter();
  clock.ms += 60_000;
  meter.reset();
  expect(floodsAfter(10)).toBe(false);
  expect(meter.floods("")).toBe(true);
});
