import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { describeWith } from "../../support/needs.ts";

const unit = fileURLToPath(new URL("../../../deploy/systemd/kibitz.service", import.meta.url));

describeWith("systemd")("the unit for systemd", () => {
  test("systemd-analyze security rates the exposure of the systemd unit at most 3.0 of 10", () => {
    const judged = execFileSync("systemd-analyze", ["security", "--offline=true", "--no-pager", unit], {
      encoding: "utf8",
    });
    const [, level = ""] = /exposure level for kibitz\.service: ([\d.]+)/.exec(judged) ?? [];
    expect(Number(level)).toBeGreaterThan(0);
    expect(Number(level)).toBeLessThanOrEqual(3);
  });
});
