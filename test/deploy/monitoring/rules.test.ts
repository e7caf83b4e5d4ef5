import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { panels } from "../../../tools/monitoring/panels.ts";
import { shortenRules } from "../../nightly/rehearsal/shorten-rules.ts";
import { describeWith } from "../../support/needs.ts";
import { useTemporaryFolder } from "../../support/temporary-folder.ts";
import { monitoringFolder, rulesText } from "./read-rules.ts";

const folder = useTemporaryFolder();

const promtool = (...args: readonly string[]) => execFileSync("promtool", args, { encoding: "utf8" });

function fileOf(name: string, content: string): string {
  const file = join(folder, name);
  writeFileSync(file, content);
  return file;
}

describeWith("prometheus")("promtool", () => {
  test("promtool accepts the alert rules and the configuration of Prometheus", () => {
    expect(promtool("check", "config", join(monitoringFolder, "prometheus.yml"))).toContain("rules found");
  });

  test("promtool accepts the alert rules for rehearsals", () => {
    const file = fileOf("short.yml", shortenRules(rulesText, 120));
    expect(promtool("check", "rules", file)).toMatch(/SUCCESS: \d+ rules found/);
  });

  test("promtool accepts the queries of the dashboard", () => {
    const queries = [...panels.values()].flatMap(({ lines }) => Object.values(lines));
    const rules = queries.map((query, index) => ({
      record: `panel:${index}`,
      expr: query.replaceAll("$__rate_interval", "1m").replaceAll("$instance", ".*"),
    }));
    const file = fileOf("dashboard.yml", JSON.stringify({ groups: [{ name: "dashboard", rules }] }));
    expect(promtool("check", "rules", file)).toContain(`SUCCESS: ${queries.length} rules found`);
  });
});
