import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fakeEngineCommandIn } from "../../test/support/fake-engine/index.ts";
import { quickestSettings } from "../../test/support/quickest-settings.ts";
import { makeDataFolder } from "../data-folder.ts";

/** Milliseconds for each depth but the first. */
export const iterationMs = 50;

/**
 * Settings of a node whose engines only wait, so that many of them need no cores: a search takes fifty milliseconds for each
 * depth but the first.
 */
export function waitingEngineSettings(): NodeJS.ProcessEnv {
  const folder = makeDataFolder();
  chmodSync(folder, 0o755);
  const file = join(folder, "waiting-engine");
  writeFileSync(file, `#!/bin/sh\n${fakeEngineCommandIn(folder, iterationMs)}\n`, { mode: 0o755 });
  const { KIBITZ_PORT: _, ...settings } = quickestSettings;
  return {
    ...settings,
    KIBITZ_NATIVE_ENGINES: file,
    KIBITZ_DEFAULT_ENGINE: "fake-1.0",
    KIBITZ_CACHE_MB: "0",
  };
}
