import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { checkEngines } from "../../../src/cli/doctor/engines.ts";
import { loadConfig } from "../../../src/wiring/config.ts";
import { useTemporaryFolder } from "../../support/temporary-folder.ts";

const folder = useTemporaryFolder();

test("kibitz doctor says how to delete an installed engine that does not run, and why a slower build runs", async () => {
  const dataHome = join(folder, "home");
  const installed = join(dataHome, "kibitz", "engines");
  mkdirSync(installed, { recursive: true });
  writeFileSync(join(installed, "stockfish-99"), "#!/bin/sh\nexit 1\n", { mode: 0o755 });
  const config = loadConfig({ XDG_DATA_HOME: dataHome, KIBITZ_WASM_BUILD: "npm", PATH: "/usr/bin:/bin" });
  const findings = await Array.fromAsync(checkEngines(config, new AbortController().signal));
  expect(findings.map(({ advice }) => advice)).toContain(
    "The service starts without it: delete it with `kibitz engines remove stockfish-99`, and install the engine again.",
  );
  expect(findings.map(({ found }) => found)).toContainEqual(
    expect.stringMatching(/^stockfish-19 \(wasm\).+a faster build does not run: KIBITZ_WASM_BUILD is npm$/),
  );
});
