import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { components } from "./components.ts";
import { type LaneName, laneNames, laneOf, lanes, projectOf } from "./lanes.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

test.each(laneNames)("the lane %s retries failed tests only if all its tests measure time", (name) => {
  expect(projectOf(name).test.retry).toBe(name === "timed" ? 1 : 0);
});

test.each(laneNames)("the lane %s fails in CI if a component is missing or a test is skipped", (name) => {
  const { globalSetup, provide } = projectOf(name).test;
  expect(globalSetup).toContain("test/support/require-components.ts");
  expect(provide.needs).toBe(lanes[name].needs);
});

test.each<[string, LaneName | undefined]>([
  ["test/abuse/crowd.test.ts", "abuse"],
  ["test/abuse/crowd.timed.test.ts", "timed"],
  ["test/slow/cli/crowd.nightly.test.ts", "nightly"],
  ["test/simulation/lane.ts", "simulation"],
  ["test/support/random.ts", undefined],
])("the lane of %s is %s", (file, name) => {
  expect(laneOf(file)).toBe(name);
});

test("each lane of npm test excludes the test files of all other lanes", () => {
  const { include, exclude } = projectOf("unit").test;
  expect(projectOf("service").test.exclude).toEqual([...exclude, ...include]);
  expect(exclude).toEqual(expect.arrayContaining(["test/**/*.timed.test.ts", "test/cluster/**/*.test.ts"]));
});

test.each(["no-such-lane", ""])("npm run lane with the name '%s' lists each lane with its needs", (name) => {
  const { status, stderr } = spawnSync(process.execPath, ["tools/lane.ts", name], {
    cwd: root,
    encoding: "utf8",
  });
  expect(status).toBe(2);
  const said = stderr.replace(/\s+/g, " ");
  for (const lane of laneNames) {
    const needs = lanes[lane].needs.map((need) => components[need].name).join("; ");
    expect(said).toContain(`${lane} ${lanes[lane].about} needs ${needs || "nothing else"}`);
  }
  expect(said.includes("no lane is called no-such-lane")).toBe(name !== "");
});
