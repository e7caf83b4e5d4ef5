import { expect, test } from "vitest";
import { alerts } from "../../../deploy/monitoring/read-rules.ts";
import { longStories, stories } from "./stories.ts";

test("every alert has a scenario in which it fires, and a time at which it does not fire", () => {
  const all = [...stories, ...longStories];
  const counts = (name: string) =>
    all.filter(({ alert }) => alert === name).flatMap(({ fires }) => Object.values(fires));
  for (const { name } of alerts) {
    expect(counts(name), name).toContain(0);
    expect(
      counts(name).some((count) => count > 0),
      name,
    ).toBe(true);
  }
  expect(
    all.map(({ alert }) => alert).filter((name) => !alerts.some((alert) => alert.name === name)),
  ).toEqual([]);
});
