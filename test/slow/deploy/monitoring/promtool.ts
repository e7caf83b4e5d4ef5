import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { rulesFile } from "../../../deploy/monitoring/read-rules.ts";
import type { Story } from "./stories.ts";

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

/** Lets promtool tell the stories to the rules. @param every how often the rules are evaluated, as `1m` */
export function expectAlertsFire(told: readonly Story[], every: string, folder: string): void {
  const file = join(folder, "tests.json");
  // JSON is YAML.
  const content = {
    rule_files: [rulesFile],
    evaluation_interval: every,
    tests: told.map(testOf),
  };
  writeFileSync(file, JSON.stringify(content));
  expect(execFileSync("promtool", ["test", "rules", file], { encoding: "utf8" })).toContain("SUCCESS");
}
