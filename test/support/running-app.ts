import { afterAll, beforeAll, expect, vi } from "vitest";
import type { EngineBackend } from "../../src/engine/engine.ts";
import { type Engines, startEngines } from "../../src/engine/engines.ts";
import type { WatchTimes } from "../../src/engine/uci/watch.ts";
import type { Log } from "../../src/log/log.ts";
import { type App, type AppOptions, startApp } from "../../src/wiring/app.ts";
import { loadConfig } from "../../src/wiring/config.ts";
import { openEngines } from "../../src/wiring/engines.ts";
import type { Config } from "../../src/wiring/settings.ts";
import { neverLate } from "./never-late.ts";
import { patienceMs } from "./patience.ts";
import { quickestSettings } from "./quickest-settings.ts";
import { useTemporaryFolder } from "./temporary-folder.ts";

export interface RunningApp {
  /** The URL of the app. Available only while tests run. */
  readonly url: string;
  readonly logged: readonly object[];
}

/** Options of the app. The app's overload detection is switched off by default. */
interface UseAppOptions extends AppOptions {
  readonly engines?: EngineBackend;
  /** The time limits of real engines. */
  readonly engineTimes?: WatchTimes;
  readonly mayFail?: boolean;
}

/** The longest time in which the app must stop, in milliseconds. The app would abort open calls after 15 s. */
const stopMaxMs = 14_000;

/**
 * Starts the real app in this process for the tests of a file. The tests fail if the app leaves a connection or an engine
 * behind, aborts a call, or logs an error.
 * @param env settings that override `quickestSettings`
 */
export function useApp(env: Readonly<Record<string, string>> = {}, options: UseAppOptions = {}): RunningApp {
  let before: readonly string[] = [];
  beforeAll(() => {
    before = openResources();
  });
  const [app, stop] = useStartedApp(env, options);
  afterAll(async () => {
    await stop();
    await expectNothingLeft(before);
  }, stopMaxMs);
  return app;
}

/** Starts several apps like {@link useApp}, and stops them together. */
export function useNodes(
  env: Readonly<Record<string, string>>,
  ...options: readonly UseAppOptions[]
): readonly RunningApp[] {
  let before: readonly string[] = [];
  beforeAll(() => {
    before = openResources();
  });
  const nodes = options.map((one) => useStartedApp(env, one));
  afterAll(async () => {
    await Promise.all(nodes.map(([, stop]) => stop()));
    await expectNothingLeft(before);
  }, stopMaxMs);
  return nodes.map(([app]) => app);
}

async function expectNothingLeft(before: readonly string[]): Promise<void> {
  await vi.waitFor(() => expect(openSince(before), "left open").toEqual([]), patienceMs);
}

function useStartedApp(
  env: Readonly<Record<string, string>>,
  { engines, engineTimes, mayFail = false, ...options }: UseAppOptions,
): readonly [RunningApp, () => Promise<void>] {
  const errors: object[] = [];
  const logged: object[] = [];
  const note = (fields: object, message: string) => void logged.push({ message, ...fields });
  const log: Log = {
    debug: note,
    info: note,
    warn: note,
    error(fields, message) {
      note({ level: "error", ...fields }, message);
      errors.push({ message, ...fields });
    },
  };
  const dataDir = useTemporaryFolder();
  let app: App | undefined;

  beforeAll(async () => {
    const config = loadConfig({
      ...quickestSettings,
      KIBITZ_LOG_LEVEL: "silent",
      KIBITZ_DATA_DIR: dataDir,
      ...env,
    });
    const never = new AbortController().signal;
    const opening = engines
      ? startEnginesOf(engines, config, log, never)
      : openEngines(config, log, never, { times: engineTimes });
    app = await startApp(config, log, opening, {
      lag: neverLate,
      // Tests look for the log line of each call.
      refusalLinesMax: Number.POSITIVE_INFINITY,
      ...options,
    });
  });

  const running: RunningApp = {
    get url() {
      if (app === undefined) {
        throw new Error("the app runs only while tests do");
      }
      return app.url;
    },
    logged,
  };
  const stop = async () => {
    await app?.stop();
    expect(mayFail ? [] : errors, "logged as errors").toEqual([]);
  };
  return [running, stop];
}

function startEnginesOf(
  backend: EngineBackend,
  { defaultEngine, engineMemoryMb }: Config,
  log: Log,
  signal: AbortSignal,
): Promise<Engines> {
  const memoryMaxBytes = engineMemoryMb * 1e6;
  return startEngines({ backends: [backend], defaultEngine, memoryMaxBytes, log }, signal);
}

function openSince(before: readonly string[]): readonly string[] {
  const closed = [...before];
  return openResources().filter((name) => {
    const index = closed.indexOf(name);
    return index < 0 || closed.splice(index, 1).length === 0;
  });
}

/** Returns the open sockets, servers and child processes of this process, by the names that Node gives them. */
function openResources(): readonly string[] {
  return process
    .getActiveResourcesInfo()
    .filter((name) => /^(TCP|Process)/.test(name))
    .toSorted();
}
