import type { EngineBackend } from "../../src/engine/engine.ts";
import { startEngines } from "../../src/engine/engines.ts";
import type { Log } from "../../src/log/log.ts";
import { startApp } from "../../src/wiring/app.ts";
import { loadConfig } from "../../src/wiring/config.ts";
import { createFakeBackend, type FakeEngineOptions } from "../support/fake-engine/index.ts";
import { neverLate } from "../support/never-late.ts";

/** An app with fake engines. Tests can make these engines fail. */
export interface FakeApp extends AsyncDisposable {
  readonly url: string;
  /** The warnings and errors in the log. Each entry is the message and the error code. */
  readonly complaints: readonly string[];
  readonly engines: { readonly starting: number; readonly alive: number };
  /** Starts the next `starts` engines with these options. Later engines behave normally. */
  arm(options: FakeEngineOptions, starts?: number): void;
}

export async function startFakeApp(dataDir: string): Promise<FakeApp> {
  const complaints: string[] = [];
  const complain: Log["warn"] = ({ kind, code }, message) => {
    complaints.push([message, kind ?? code].filter(Boolean).join(": "));
  };
  const log: Log = { debug() {}, info() {}, warn: complain, error: complain };
  const config = loadConfig({
    KIBITZ_PORT: "0",
    KIBITZ_ACCESS: "open",
    KIBITZ_SLOTS: "2",
    KIBITZ_CACHE_MB: "0",
    KIBITZ_STORE_MB: "0",
    KIBITZ_DATA_DIR: dataDir,
  });
  let misbehavior: FakeEngineOptions = {};
  let starts = 0;
  const engines = { starting: 0, alive: 0 };
  const backend: EngineBackend = {
    ...createFakeBackend(),
    async start(build, signal) {
      engines.starting++;
      try {
        const session = await createFakeBackend(starts-- > 0 ? misbehavior : {}).start(build, signal);
        engines.alive++;
        void session.exited.then(() => engines.alive--);
        return session;
      } finally {
        engines.starting--;
      }
    },
  };
  const startingEngines = startEngines(
    { backends: [backend], defaultEngine: undefined, memoryMaxBytes: 4e9, log },
    new AbortController().signal,
  );
  const app = await startApp(config, log, startingEngines, { lag: neverLate });
  return {
    url: app.url,
    complaints,
    engines,
    arm(options, count = 1) {
      misbehavior = options;
      starts = count;
    },
    [Symbol.asyncDispose]: () => app.stop(),
  };
}
