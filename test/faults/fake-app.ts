import type { EngineBackend } from "../../src/engine/engine.ts";
import { startEngines } from "../../src/engine/engines.ts";
import type { Log } from "../../src/log/log.ts";
import { startApp } from "../../src/wiring/app.ts";
import { loadConfig } from "../../src/wiring/config.ts";
import { createFakeBackend, type FakeEngineOptions } from "../support/fake-engine/index.ts";
import { neverLate } from "../support/never-late.ts";

/** The app over the fake engine, which misbehaves as it is told. Disposing of it stops it. */
export interface FakeApp extends AsyncDisposable {
  readonly url: string;
  /** Warnings and errors in the log: the message, and the kind of the failure. */
  readonly complaints: readonly string[];
  /** Engines that are being started, and those that it has. */
  readonly engines: { readonly starting: number; readonly alive: number };
  /** How every engine behaves that is started from now on, and what it is given time for, for so many starts. */
  arm(options: FakeEngineOptions, starts?: number): void;
}

/** Engines behave until they are told otherwise. */
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
  let told: FakeEngineOptions = {};
  let starts = 0;
  const engines = { starting: 0, alive: 0 };
  const backend: EngineBackend = {
    ...createFakeBackend(),
    async start(build, signal) {
      engines.starting++;
      try {
        const session = await createFakeBackend(starts-- > 0 ? told : {}).start(build, signal);
        engines.alive++;
        void session.exited.then(() => engines.alive--);
        return session;
      } finally {
        engines.starting--;
      }
    },
  };
  const room = startEngines(
    { backends: [backend], defaultEngine: undefined, memoryMaxBytes: 4e9, log },
    new AbortController().signal,
  );
  const app = await startApp(config, log, room, { lag: neverLate });
  return {
    url: app.url,
    complaints,
    engines,
    arm(options, count = 1) {
      told = options;
      starts = count;
    },
    [Symbol.asyncDispose]: () => app.stop(),
  };
}
