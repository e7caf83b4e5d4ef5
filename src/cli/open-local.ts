import { createLocalAccess } from "../access/access.ts";
import { createLog } from "../log/create-log.ts";
import { loadConfig } from "../wiring/config.ts";
import { openEngines } from "../wiring/engines.ts";
import { createService, type Service } from "../wiring/service.ts";
import type { Host } from "./host.ts";

/** The service in this process, without a server: what the commands ask. */
export async function openLocal(host: Host, signal: AbortSignal): Promise<Service & AsyncDisposable> {
  const config = loadConfig({ KIBITZ_LOG_LEVEL: "warn", ...host.env });
  const log = await createLog(config.logLevel, host.stderr, host);
  const engines = await openEngines(config, log, signal);
  return {
    ...createService(engines, await createLocalAccess(), config, log),
    [Symbol.asyncDispose]: () => engines[Symbol.asyncDispose](),
  };
}
