import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fakeEngineCommandIn } from "../../test/support/fake-engine/index.ts";
import { quickestSettings } from "../../test/support/quickest-settings.ts";
import { makeDataFolder } from "../data-folder.ts";

/** The engine waits this many milliseconds at each depth, except depth 1. */
export const iterationMs = 50;

/** It reports the name of a Stockfish, because only answers of known families are shared between nodes. */
export const waitingEngine = "stockfish-1.0";

/** Settings for a fake engine that waits instead of searching, so that many engines can run on few cores. */
export function waitingEngineSettings(everyMs = iterationMs): NodeJS.ProcessEnv {
  const folder = makeDataFolder();
  chmodSync(folder, 0o755);
  const file = join(folder, "waiting-engine");
  writeFileSync(file, `#!/bin/sh\n${fakeEngineCommandIn(folder, everyMs, "Stockfish 1.0")}\n`, {
    mode: 0o755,
  });
  const { KIBITZ_PORT: _, ...settings } = quickestSettings;
  return {
    ...settings,
    KIBITZ_NATIVE_ENGINES: file,
    KIBITZ_DEFAULT_ENGINE: waitingEngine,
    KIBITZ_CACHE_MB: "0",
  };
}
