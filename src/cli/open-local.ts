import { createLocalAccess } from "../access/access.ts";
import { createLog } from "../log/create-log.ts";
import { loadConfig } from "../wiring/config.ts";
import { openEngines } from "../wiring/engines.ts";
import { createService, type Service } from "../wiring/service.ts";
import type { Host } from "./host.ts";

/** The service in this process, without a server: what the commands ask. */
export interface Local extends Service, AsyncDisposable {
  /** How many searches a command may ask for at once: one more than there are slots keeps them all busy. */
  readonly searchesAtOnce: number;
}

export async function openLocal(host: Host, signal: AbortSignal): Promise<Local> {
  const config = loadConfig({ KIBITZ_LOG_LEVEL: "warn", ...host.env });
  const log = await createLog(config.logLevel, host.stderr, host);
  const engines = await openEngines(config, log, signal);
  return {
    ...createService(engines, await createLocalAccess(), config, log),
    searchesAtOnce: config.slots + 1,
    [Symbol.asyncDispose]: () => engines[Symbol.asyncDispose](),
  };
}
