import { expect, test } from "vitest";
import { bars, plot } from "../../bench/plot.ts";

test("a curve goes from the left to the right, and its greatest value stands beside it", () => {
  const svg = plot("Title", { values: [1, 2, 3], unit: "minutes" }, [
    { title: "memory", unit: "MiB", values: [50, 100, 50] },
  ]);
  expect(svg).toContain(">100 MiB<");
  expect(svg).toContain(">3 minutes<");
  const [, points = ""] = /points="([^"]+)"/.exec(svg) ?? [];
  const [first, second, third] = points.split(" ").map((point) => point.split(",").map(Number));
  expect(first?.[1]).toBe(third?.[1]);
  // Upwards is less in an SVG.
  expect(second?.[1]).toBeLessThan(first?.[1] ?? 0);
  expect(third?.[0]).toBe(880);
});

test("what doubles from step to step goes on evenly where the axis is logarithmic", () => {
  const svg = plot("Title", { values: [1, 2, 4], unit: "callers", logarithmic: true }, [
    { title: "rate", unit: "", values: [1, 1, 1] },
  ]);
  const [, points = ""] = /points="([^"]+)"/.exec(svg) ?? [];
  const [first = 0, second = 0, third = 0] = points.split(" ").map((point) => Number(point.split(",")[0]));
  expect(second - first).toBeCloseTo(third - second, 0);
});

test("the longest bar of a group is its greatest value", () => {
  const svg = bars("Title", "", [
    {
      title: "depth 1",
      bars: [
        { name: "least", value: 2000 },
        { name: "Kibitz", value: 1000 },
      ],
    },
  ]);
  const [least = 0, kibitz = 0] = [...svg.matchAll(/width="([\d.]+)" height="16"/g)].map(([, width]) =>
    Number(width),
  );
  expect(kibitz).toBeCloseTo(least / 2, 0);
  expect(svg).toContain(">2,000 <");
});
