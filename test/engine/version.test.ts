import { describe, expect, test } from "vitest";
import { compareVersions, isRelease } from "../../src/engine/catalog.ts";

describe("versions of one family", () => {
  test.each([
    ["15.2", "15.10"],
    ["9", "10"],
    ["15", "15.1"],
    ["15.1", "15.1.1"],
    ["v0.30.0", "v0.31.2"],
    ["1.04", "1.5"],
    ["20231231", "20240112"],
    ["19-rc1", "19"],
    ["dev-20260110-3a1b2c4d", "1"],
    ["dev-20250101-ffffffff", "dev-20260110-3a1b2c4d"],
    ["unknown", "1"],
  ])("the version %s is older than %s", (older, newer) => {
    expect(compareVersions(older, newer)).toBeLessThan(0);
    expect(compareVersions(newer, older)).toBeGreaterThan(0);
  });

  test.each([
    ["15", "15.0"],
    ["v1.2", "1.2.0"],
    ["dev-1", "dev-1"],
  ])("the version %s is as old as %s", (one, other) => {
    expect(compareVersions(one, other)).toBe(0);
  });
});

test.each(["19", "15.1", "16.1.2", "v0.31.2", "1.04", "19.0.0.1"])(
  "the version %s is a release",
  (version) => {
    expect(isRelease(version)).toBe(true);
  },
);

test.each(["dev-20260110", "19-rc1", "18beta2", "unknown", "", ".", "1.", "1".repeat(400)])(
  "the version %j is no release",
  (version) => {
    expect(isRelease(version)).toBe(false);
  },
);
