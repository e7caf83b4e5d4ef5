import { createLocalAccess } from "../access/access.ts";
import { loadConfig } from "../config.ts";
import { createService, type Service } from "../create-service.ts";
import { createLog } from "../log/create-log.ts";
import { openEngines } from "../open-engines.ts";

/** The service in this process, without a server: what the commands ask. */
export async function openLocal(signal: AbortSignal): Promise<Service & AsyncDisposable> {
  const config = loadConfig({ KIBITZ_LOG_LEVEL: "warn", ...process.env });
  const log = await createLog(config.logLevel, process.stderr);
  const engines = await openEngines(config, log, signal);
  return {
    ...createService(engines, await createLocalAccess(), config, log),
    [Symbol.asyncDispose]: () => engines[Symbol.asyncDispose](),
  };
}
