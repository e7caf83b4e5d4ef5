import { once } from "node:events";
import { createLog } from "../log/create-log.ts";
import { makeFolder } from "../storage/sqlite/database.ts";
import { describeSettings, loadConfig, settingsForLog } from "../wiring/config.ts";
import { openEngines } from "../wiring/engines.ts";
import { type Command, exitCode, table, UsageError } from "./command.ts";

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
  async run({ positionals, signal, host }) {
    if (positionals.length > 0) {
      throw new UsageError("serve takes no arguments; settings are environment variables");
    }
    const config = loadConfig(host.env);
    const log = await createLog(config.logLevel, host.stdout, host);
    log.info({ settings: settingsForLog(config) }, "settings");

    ensureFolder(config.dataDir);
    const started = Promise.withResolvers<void>();
    const opening = openEngines(config, log, signal, started.resolve);
    // Reading the server's modules holds this thread: by then the engine's process should be loading.
    // A failure is told by the app, which awaits the same; here it only must not count as unhandled.
    await Promise.race([started.promise, opening.catch(() => {})]);
    const { startApp } = await import("../wiring/app.ts");
    const app = await startApp(config, log, opening);
    const startMs = Math.round(performance.now());
    log.info({ url: app.url, startMs }, `ready: curl ${app.url}/ shows how to start`);

    if (!signal.aborted) {
      await once(signal, "abort");
    }
    log.info({}, "stopping: finishing the requests in progress; interrupt again to stop at once");
    await app.stop();
    log.info({}, "stopped");
    return exitCode.ok;
  },
};

/** The sandbox of the engines hides this folder, which it can only if it is there before them. */
function ensureFolder(dataDir: string): void {
  try {
    makeFolder(dataDir);
  } catch {
    // Opening the database in it will tell.
  }
}
