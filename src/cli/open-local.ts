import { createLocalAccess } from "../access/access.ts";
import { createLog } from "../log/create-log.ts";
import type { Log } from "../log/log.ts";
import { loadConfig } from "../wiring/config.ts";
import { openEngines } from "../wiring/engines.ts";
import { createService, type Service } from "../wiring/service.ts";
import { hasStore, openStore } from "../wiring/store.ts";
import type { CommandInput } from "./command.ts";
import type { Host } from "./host.ts";

/** The service in this process, without a server: what the commands ask. */
export interface Local extends Service, AsyncDisposable {
  /** How many searches a command may ask for at once: one more than there are slots keeps them all busy. */
  readonly searchesAtOnce: number;
}

interface OpenLocalOptions {
  /** Of the command: the engine that they name is the only one that is started. */
  readonly values?: CommandInput["values"];
  /**
   * Whether answers are stored for the next time; else those are used that are there, and no folder is made. What is wrong
   * with the store is told from `KIBITZ_LOG_LEVEL=info` on: it keeps nobody from an answer.
   */
  readonly stores?: boolean;
  /** Over those of the environment. */
  readonly settings?: Readonly<Record<string, string>>;
}

export async function openLocal(
  host: Host,
  signal: AbortSignal,
  { stores = false, settings = {}, values = {} }: OpenLocalOptions = {},
): Promise<Local> {
  const config = loadConfig({
    ...host.env,
    KIBITZ_LOG_LEVEL: host.env.KIBITZ_LOG_LEVEL || "warn",
    ...settings,
  });
  const log = await createLog(config.logLevel, host.stderr, host);
  const tell: Log["info"] = (fields, message) => log.info(fields, message);
  await using opened = new AsyncDisposableStack();
  const { engine, path } = values;
  const asked = {
    engine: typeof engine === "string" ? engine : "latest",
    path: path === "native" || path === "wasm" ? path : "auto",
  } as const;
  const engines = opened.use(await openEngines(config, log, signal, { asked }));
  const store = stores || hasStore(config) ? openStore(config, { info: tell, warn: tell }) : undefined;
  if (store) {
    opened.use(store);
  }
  const service = createService(engines, await createLocalAccess(), config, log, { store });
  const kept = opened.move();
  return {
    ...service,
    searchesAtOnce: config.slots + 1,
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}
