import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { rulesFile } from "../../../deploy/monitoring/read-rules.ts";
import type { Story } from "./stories.ts";

function testOf({ alert, scenario, series, fires }: Story) {
  return {
    name: `${alert}: ${scenario}`,
    interval: "1m",
    input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
    promql_expr_test: Object.entries(fires).map(([eval_time, value]) => ({
      expr: `count(ALERTS{alertname="${alert}", alertstate="firing"}) or vector(0)`,
      eval_time,
      exp_samples: [{ labels: "{}", value }],
    })),
  };
}

/**
 * Expects that the alert rules pass promtool's tests of these scenarios.
 * @param every the interval at which the rules are evaluated, such as `1m`
 */
export function expectAlertsFire(scenarios: readonly Story[], every: string, folder: string): void {
  const file = join(folder, "tests.json");
  // promtool reads YAML, and JSON is valid YAML.
  const content = {
    rule_files: [rulesFile],
    evaluation_interval: every,
    tests: scenarios.map(testOf),
  };
  writeFileSync(file, JSON.stringify(content));
  expect(execFileSync("promtool", ["test", "rules", file], { encoding: "utf8" })).toContain("SUCCESS");
}
