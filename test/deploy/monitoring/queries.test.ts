import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { Health } from "../../../gen/grpc/health/v1/health_pb.ts";
import { ServerReflection } from "../../../gen/grpc/reflection/v1/reflection_pb.ts";
import { errorCodes, errorKind } from "../../../src/errors/catalog.ts";
import { describeMetrics } from "../../../src/metrics/metrics.ts";
import { dashboardJson } from "../../../tools/monitoring/dashboard.ts";
import { panels } from "../../../tools/monitoring/panels.ts";
import { shortenRules } from "../../nightly/rehearsal/shorten-rules.ts";
import { alerts, monitoringFolder, recorded, ruleQueries, rulesText } from "./read-rules.ts";

/** Maps a series to its labels. */
const series = new Map<string, readonly string[]>([
  ["up", []],
  ...recorded.map((name) => [name, []] as const),
  ...describeMetrics().flatMap(({ name, type, labels }) =>
    type === "histogram"
      ? [
          [`${name}_bucket`, [...labels, "le"]] as const,
          [`${name}_sum`, labels] as const,
          [`${name}_count`, labels] as const,
        ]
      : [[name, labels] as const],
  ),
]);
const ofPrometheus = ["job", "instance"];

const words =
  /^(and|or|unless|on|by|bool|ignoring|group_left|sum|avg|rate|increase|changes|abs|absent|time|timestamp|vector|avg_over_time|histogram_quantile|count|le|without)$/;

/** Returns the unknown series and labels of a query. */
function violationsIn(query: string): readonly string[] {
  const violations: string[] = [];
  const bare = query.replace(/([\w:]+)?\{([^}]*)\}/g, (_, name = "", matchers: string) => {
    const labels = [...matchers.matchAll(/(\w+)\s*(?:=~|!~|!=|=)\s*"/g)].map(([, label = ""]) => label);
    const known = [...(series.get(name) ?? []), ...ofPrometheus];
    violations.push(...labels.filter((label) => !known.includes(label)).map((label) => `${name}{${label}}`));
    return ` ${name} `;
  });
  const grouped = [...bare.matchAll(/\b(?:by|on|ignoring|without) \(([\w, ]*)\)/g)].flatMap(([, list = ""]) =>
    list.split(/,\s*/),
  );
  const withoutGroups = bare.replace(/\b(?:by|on|ignoring|without|group_left) \([\w, ]*\)/g, " ");
  const names = [...withoutGroups.replace(/\[[^\]]*\]/g, " ").matchAll(/[a-zA-Z_:][\w:]*/g)].map(
    ([name]) => name,
  );
  const named = names.filter((name) => series.has(name));
  violations.push(...names.filter((name) => !series.has(name) && !words.test(name)));
  const labels = new Set([...ofPrometheus, ...named.flatMap((name) => series.get(name) ?? [])]);
  violations.push(...grouped.filter((label) => !labels.has(label)).map((label) => `by ${label}`));
  return violations;
}

describe("queries", () => {
  test("the queries of the alert rules name existing series and labels", () => {
    expect(ruleQueries.length).toBeGreaterThan(25);
    expect(ruleQueries.filter((query) => query === "")).toEqual([]);
    expect(ruleQueries.flatMap(violationsIn)).toEqual([]);
  });

  test.each([...panels.values()])(
    "the queries of the panel $title name existing series and labels",
    ({ lines }) => {
      expect(Object.values(lines).flatMap(violationsIn)).toEqual([]);
      for (const [legend, query] of Object.entries(lines)) {
        const named = [...legend.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = ""]) => label);
        const by = named.filter((label) => !ofPrometheus.includes(label));
        expect(violationsIn(`sum by (${[...by, "job"].join(", ")}) (${query})`)).toEqual([]);
      }
    },
  );

  test("the check of queries finds an unknown series or label", () => {
    expect(violationsIn('sum by (colour) (rate(kibitz_request_total{code="ok"}[5m]))')).toEqual([
      "kibitz_request_total{code}",
      "kibitz_request_total",
      "by colour",
    ]);
    expect(violationsIn('kibitz_requests_total{reason=~"x"} / kibitz:nothing')).toEqual([
      "kibitz_requests_total{reason}",
      "kibitz:nothing",
    ]);
  });
});

test("the dashboard is up to date with `npm run generate`", () => {
  expect(readFileSync(`${monitoringFolder}dashboard.json`, "utf8")).toBe(dashboardJson());
});

describe("the rules", () => {
  const lists = (label: string) =>
    new Set([...rulesText.matchAll(new RegExp(`^ +${label}[=!]~"(.+)"`, "gm"))].map(([, list = ""]) => list));

  test("the alert rules count 5xx as errors, except for unknown calls and client deadlines", () => {
    const ours = errorCodes.filter(
      (code) => errorKind(code).status >= 500 && !["unimplemented", "deadline_exceeded"].includes(code),
    );
    expect(ours).toContain("overloaded");
    expect([...lists("code")].toSorted()).toEqual([ours.join("|"), `ok|${ours.join("|")}`].toSorted());
  });

  test("the alert rules ignore health and reflection, because even a broken service answers these calls", () => {
    const tools = [Health, ServerReflection].flatMap(({ methods }) => methods.map(({ name }) => name));
    const [left = "", ...more] = [...lists("method")];
    expect([left.split("|").toSorted(), more]).toEqual([tools.toSorted(), []]);
  });

  test("the alert rules for rehearsals differ from the normal rules only by shorter times", () => {
    const times = /(?<=\[|\bfor: )\d+(?:ms|[smhd])\b/g;
    const inMs = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
    const timesOf = (text: string) =>
      [...text.matchAll(times)].map(
        ([time]) => Number.parseInt(time, 10) * inMs[time.replace(/\d+/, "") as keyof typeof inMs],
      );
    const short = shortenRules(rulesText, 60);
    expect(timesOf(short)).toEqual(timesOf(rulesText).map((ms) => ms / 60));
    expect(short.replace(times, "")).toBe(rulesText.replace(times, ""));
    expect(timesOf(rulesText).length).toBeGreaterThan(25);
  });

  test.each(alerts)(
    "the alert $name has a severity, a summary, a description and a link to its runbook page",
    ({ name, text }) => {
      expect(text).toMatch(/^ +labels: \{ severity: (critical|warning|info) \}$/m);
      expect(text).toMatch(/^ +summary: ".+"$/m);
      expect(text).toMatch(/^ +description: >-\n +\S+/m);
      expect(text).toContain(`          runbook_url: docs/runbook/${name}.md\n`);
    },
  );
});
