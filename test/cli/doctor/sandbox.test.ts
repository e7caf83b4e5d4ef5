import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { lookAtSandbox } from "../../../src/cli/doctor/engines.ts";
import { loadConfig } from "../../../src/wiring/config.ts";
import { testWith } from "../../support/needs.ts";
import { useTemporaryFolder } from "../../support/temporary-folder.ts";

const folder = useTemporaryFolder();

testWith("namespaces", "util-linux")(
  "before the first start the sandbox holds in full: whether a data folder is there makes no difference",
  async () => {
    const dataDir = join(folder, "data");
    const findings = await Array.fromAsync(lookAtSandbox(loadConfig({ KIBITZ_DATA_DIR: dataDir })));
    expect(findings.filter(({ state }) => state !== "good")).toEqual([]);
    expect(findings.map(({ found }) => found)).toContain("keys: holds");
    expect(existsSync(dataDir)).toBe(false);
  },
);
