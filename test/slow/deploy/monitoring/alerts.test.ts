import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { alerts, rulesFile } from "../../../deploy/monitoring/read-rules.ts";
import { describeWith } from "../../../support/needs.ts";
import { useTemporaryFolder } from "../../../support/temporary-folder.ts";
import { longStories, type Story, stories } from "./stories.ts";

const folder = useTemporaryFolder();

/** A test of promtool's. */
function testOf({ alert, told, series, fires }: Story) {
  return {
    name: `${alert}: ${told}`,
    interval: "1m",
    input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
    promql_expr_test: Object.entries(fires).map(([eval_time, value]) => ({
      expr: `count(ALERTS{alertname="${alert}", alertstate="firing"}) or vector(0)`,
      eval_time,
      exp_samples: [{ labels: "{}", value }],
    })),
  };
}

describeWith("prometheus")("alerts", () => {
  test.each([
    { within: "hours", told: stories, every: "1m" },
    { within: "days", told: longStories, every: "5m" },
  ])("fire as they should in every story of $within", ({ within, told, every }) => {
    const file = join(folder, `${within}.json`);
    // JSON is YAML.
    const content = {
      rule_files: [rulesFile],
      evaluation_interval: every,
      tests: told.map(testOf),
    };
    writeFileSync(file, JSON.stringify(content));
    expect(execFileSync("promtool", ["test", "rules", file], { encoding: "utf8" })).toContain("SUCCESS");
  });

  test("have a story of each alert in which it fires, and one in which it does not or clears", () => {
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
});
