import { startEngines } from "../../src/engine/engines.ts";
import { defaultWatchTimes, type WatchTimes } from "../../src/engine/uci/watch.ts";
import type { Log } from "../../src/log/log.ts";
import { startApp } from "../../src/wiring/app.ts";
import { loadConfig } from "../../src/wiring/config.ts";
import { createFakeBackend, type Misbehaviour } from "../support/fake-engine/index.ts";

/** The app over the fake engine, which misbehaves as it is told. Disposing of it stops it. */
export interface FakeApp extends AsyncDisposable {
  readonly url: string;
  /** What the log says from warnings up: its message, and of what kind the failure was. */
  readonly complaints: readonly string[];
  /** How every engine behaves that is started from now on, for so many starts. */
  arm(misbehaviour: Misbehaviour, starts?: number): void;
}

/** The idle engine of the start behaves. */
export async function startFakeApp(
  dataDir: string,
  times: Partial<WatchTimes> = {},
  env: Readonly<Record<string, string>> = {},
): Promise<FakeApp> {
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
    KIBITZ_DATA_DIR: dataDir,
    ...env,
  });
  let told: Misbehaviour | undefined;
  let starts = 0;
  const backend = createFakeBackend({
    times: { ...defaultWatchTimes, ...times },
    get misbehaviour() {
      return starts-- > 0 ? told : undefined;
    },
  });
  const room = startEngines(
    { backends: [backend], defaultEngine: undefined, idleMax: 2, memoryMaxBytes: 4e9, log },
    new AbortController().signal,
  );
  const app = await startApp(config, log, room);
  return {
    url: app.url,
    complaints,
    arm(misbehaviour, count = 1) {
      told = misbehaviour;
      starts = count;
    },
    [Symbol.asyncDispose]: () => app.stop(),
  };
}
