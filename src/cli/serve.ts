import { once } from "node:events";
import manifest from "../../package.json" with { type: "json" };
import type { Guard } from "../engine/sandbox/links.ts";
import { createLog } from "../log/create-log.ts";
import type { Log, ProcessLog } from "../log/log.ts";
import { makeFolder } from "../storage/sqlite/database.ts";
import { after, now } from "../time/time.ts";
import { tracingFrom } from "../tracing/settings.ts";
import type { App } from "../wiring/app.ts";
import { ConfigError, describeSettings, loadConfig, settingsForLog } from "../wiring/config.ts";
import { openEngines } from "../wiring/engines.ts";
import type { Config } from "../wiring/settings.ts";
import { buildPageIfStale } from "./build-page.ts";
import { type Command, type CommandInput, exitCode, table } from "./command.ts";
import { installCommand, wouldInstallHelp } from "./engines/install-hint.ts";
import { guardRequests } from "./guard-requests.ts";
import type { Host } from "./host.ts";
import { onReloadSignal, type ReloadSignal } from "./reload-signal.ts";

/** After an error outside of every request, a stop that takes longer has failed: searches 15 s, their answers 5 s, the rest 10 s. */
const brokenStopMaxMs = 30_000;

export const serveCommand: Command = {
  usage: "serve",
  about: "Serve gRPC, gRPC-Web, Connect and plain JSON on one port until stopped.",
  options: {},
  get notes() {
    const rows = describeSettings().map(
      ({ key, about, default: value }) => [`${key}=${value}`, about] as const,
    );
    return ["Settings are environment variables, shown here with their defaults:", ...table(rows)];
  },
  async run(input) {
    using reload = onReloadSignal(input.host);
    let log: ProcessLog | undefined;
    try {
      const code = await serve(input, reload, (created) => {
        log = created;
      });
      // Exit here, while SIGUSR2 has a handler: while Node ends by itself, the signal would end the process.
      input.host.exit(code);
      return code;
    } catch (error) {
      if (!input.signal.aborted) {
        await logFatal(error, input.host, log);
      }
      throw error;
    }
  },
};

/** The error is also printed on standard error as text, for people. Collectors of JSON lines read only the log. */
async function logFatal(error: unknown, host: Host, created: ProcessLog | undefined): Promise<void> {
  if (host.stdout.isTTY || host.env.KIBITZ_LOG_LEVEL === "silent") {
    return;
  }
  // The settings can be wrong, so there may be no log yet.
  const log = created ?? (await createLog("fatal", host.stdout, host));
  log.fatal({ error: error instanceof Error ? error.message : String(error) }, "the service has ended");
}

async function serve(
  { signal: interrupted, host }: CommandInput,
  reload: ReloadSignal,
  onLog: (log: ProcessLog) => void,
): Promise<number> {
  const config = loadConfig(host.env, await complaintsOfPlans(host.env));
  const log = await createLog(config.logLevel, host.stdout, host);
  onLog(log);
  const broken = new AbortController();
  const signal = AbortSignal.any([interrupted, broken.signal]);
  using guard = guardRequests({
    host,
    log,
    stop() {
      if (broken.signal.aborted) {
        return;
      }
      broken.abort(new Error("an error outside of every request"));
      after(brokenStopMaxMs, () => host.exit(exitCode.failure)).unref();
    },
  });
  // Log long lines only at the level `debug`, because they would fill the terminal.
  const logForPrograms: Log["info"] = (...line) =>
    host.stdout.isTTY ? log.debug(...line) : log.info(...line);
  logForPrograms({ settings: settingsForLog(config) }, "settings");

  try {
    // Make the folder first, because the sandbox can hide only a folder that exists.
    makeFolder(config.dataDir);
  } catch {
    // Ignore the error, which the database in the folder reports again.
  }
  const started = Promise.withResolvers<void>();
  const opening = openEngines(config, log, signal, {
    onSandbox({ user, holds, lacks }) {
      const fields = { user: user?.name ?? "the server's", holds, lacks };
      if (lacks.length === 0) {
        logForPrograms(fields, "engine sandbox");
      } else {
        log.warn(fields, `engine sandbox: ${dangersOf(lacks)}`);
      }
    },
    onStarted: started.resolve,
  });
  // Start the engine's process first, because the import of the server's modules blocks the thread.
  await Promise.race([started.promise, opening.catch(() => {})]);
  const { startApp } = await import("../wiring/app.ts");
  await using metrics = await openMetrics(config, log).catch(async (error: unknown) => {
    await opening.then((engines) => engines[Symbol.asyncDispose]()).catch(() => {});
    throw error;
  });
  guard.meter = metrics?.meter;
  await using _ = await startTracing(host.env, log);
  const app = await startApp(config, log, opening, { metrics });
  const { catalog } = await opening;
  const { latest, versions } = catalog;
  if (wouldInstallHelp(catalog, config)) {
    log.info({}, `latest is ${latest.id} in WebAssembly; ${installCommand} installs a faster native build`);
  }
  const fields = {
    url: app.url,
    engines: [latest, ...versions.filter((version) => version !== latest)].map(({ id }) => id),
    slots: config.slots,
    access: config.access,
    degraded: app.degraded(),
    startMs: Math.round(now()),
  };
  log.info(fields, `ready: curl ${app.url}/ shows how to start`);
  const building = config.page === "on" ? buildPageIfStale(log, signal) : undefined;

  reload.call(() => reloadPlans(app, config, log));
  if (!signal.aborted) {
    await once(signal, "abort");
  }
  reload.call(async () => log.info({}, "stopping: the plans are not read again"));
  log.info({}, "stopping: finishing the requests in progress; interrupt again to stop at once");
  await Promise.all([app.stop(), building]);
  log.info({ unhandled: guard.count }, "stopped");
  return broken.signal.aborted ? exitCode.failure : exitCode.ok;
}

async function reloadPlans(app: App, { plansFile }: Config, log: Log): Promise<void> {
  if (plansFile === undefined) {
    log.warn({}, "SIGUSR2 reads the plans again, but KIBITZ_PLANS is not set");
    return;
  }
  try {
    const ids = await app.reloadPlans();
    log.info({ file: plansFile }, `the plans were read again: ${ids.join(", ")}`);
  } catch (error) {
    log.error(
      { file: plansFile, error: error instanceof Error ? error.message : String(error) },
      "the plans were not changed",
    );
  }
}

/** For each protection: the damage that a compromised engine could do without this protection. */
const dangers: Readonly<Record<Guard, string>> = {
  user: "act as the server's user",
  keys: "read the key database",
  network: "use the network",
  writes: "write files",
  privileges: "gain privileges",
  limits: "take any amount of memory",
  "ends with the server": "outlive a server that is killed",
};

function dangersOf(lacks: readonly Guard[]): string {
  const what = new Intl.ListFormat("en").format(lacks.map((guard) => dangers[guard]));
  return `an engine that was taken over could ${what}; kibitz doctor says how to prevent that`;
}

/** Imports modules only if KIBITZ_PLANS is set, because each import delays the start of the engines. */
async function complaintsOfPlans({ KIBITZ_PLANS: plansFile }: Host["env"]): Promise<readonly string[]> {
  if (!plansFile) {
    return [];
  }
  const { loadPlans } = await import("../wiring/plans.ts");
  try {
    loadPlans({ plansFile });
    return [];
  } catch (error) {
    if (error instanceof ConfigError) {
      return [error.message];
    }
    throw error;
  }
}

async function openMetrics(config: Config, log: Log) {
  if (config.metricsPort === 0) {
    return undefined;
  }
  const wiring = await import("../wiring/metrics.ts");
  return wiring.openMetrics(config, log);
}

async function startTracing(env: Host["env"], log: Log): Promise<AsyncDisposable | undefined> {
  const wanted = tracingFrom(env);
  for (const warning of wanted.warnings) {
    log.warn({}, warning);
  }
  if (wanted.kind === "off") {
    return undefined;
  }
  const { settings } = wanted;
  const { sampler, ratio } = settings;
  try {
    const { openTracing } = await import("../tracing/open.ts");
    const tracing = openTracing({ settings, version: manifest.version, log });
    log.info({}, `traces are kept: ${sampler}${sampler.endsWith("ratio") ? ` of ${ratio}` : ""}`);
    return tracing;
  } catch (thrown) {
    log.warn({ error: thrown instanceof Error ? thrown.message : String(thrown) }, "no traces");
    return undefined;
  }
}
