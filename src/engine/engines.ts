import type { EventEmitter } from "node:events";
import type { Log } from "../log/log.ts";
import { type Catalog, createCatalog } from "./catalog.ts";
import type { EngineBackend, EngineBuild, EnginePath } from "./engine.ts";
import { createPool, type EngineEvents, type EngineStatus } from "./pool.ts";
import { createSearchWithRetry, type SearchWithRetry } from "./search-with-retry.ts";

export interface Engines extends AsyncDisposable {
  readonly catalog: Catalog;
  readonly search: SearchWithRetry;
  /** True if engines of the build can be started. This may change: a missing file may be back later. */
  available(build: EngineBuild): boolean;
  readonly changes: EventEmitter<EngineEvents>;
  /** Ends all running searches as if their time were over: their callers get the results so far. */
  cutShort(): void;
  status(): readonly EngineStatus[];
}

export interface EnginesOptions {
  readonly backends: readonly EngineBackend[];
  /** The id that `latest` means; if undefined, the newest stable version. */
  readonly defaultEngine: string | undefined;
  /** The memory limit for all engines together. */
  readonly memoryMaxBytes: number;
  readonly log: Log;
  /** The engine to keep warm; if undefined, the default engine. */
  readonly asked?: { readonly engine: string; readonly path: EnginePath | "auto" } | undefined;
  /** A callback that runs while the warm engine loads in its own process, so that this process can do other work. */
  readonly onStarted?: (() => void) | undefined;
}

/** Finds the engines, and keeps an engine of the requested build running, so that searches do not wait for a start. */
export async function startEngines(options: EnginesOptions, signal: AbortSignal): Promise<Engines> {
  const { backends, defaultEngine, log, onStarted = () => {} } = options;
  const { engine, path } = options.asked ?? { engine: "latest", path: "auto" };
  const builds = (await Promise.all(backends.map((backend) => backend.discover(signal)))).flat();
  signal.throwIfAborted();
  const catalog = createCatalog(builds, defaultEngine);
  const resolution = catalog.resolve(engine, path);
  const pool = createPool(options);
  try {
    // If there is no such build, start no other engine instead: the client's search reports the error.
    if (resolution.kind === "build") {
      const warmed = pool.keepWarm(resolution.build, signal);
      onStarted();
      await warmed;
    }
  } catch (error) {
    await pool[Symbol.asyncDispose]();
    throw error;
  }
  return {
    catalog,
    search: createSearchWithRetry(pool, log),
    available: pool.available,
    changes: pool.changes,
    cutShort: pool.cutShort,
    status: () => builds.map(pool.status),
    [Symbol.asyncDispose]: () => pool[Symbol.asyncDispose](),
  };
}
