import type { EventEmitter } from "node:events";
import type { Log } from "../log/log.ts";
import { type Catalog, createCatalog } from "./catalog.ts";
import type { EngineBackend, EngineBuild, EnginePath } from "./engine.ts";
import { createPool, type EngineEvents, type EngineStatus } from "./pool.ts";
import { createSearchWithRetry, type SearchWithRetry } from "./search-with-retry.ts";

export interface Engines extends AsyncDisposable {
  readonly catalog: Catalog;
  readonly search: SearchWithRetry;
  /** True if engines of the build can be started. The value can change, for example when a missing file is restored. */
  available(build: EngineBuild): boolean;
  /** True if an engine of the build is idle, or if one more engine fits into memory. */
  hasRoom(build: EngineBuild): boolean;
  readonly changes: EventEmitter<EngineEvents>;
  cutShort(): void;
  status(): readonly EngineStatus[];
}

export interface EnginesOptions {
  readonly backends: readonly EngineBackend[];
  /** The engine id that `latest` means. If undefined, `latest` means the newest stable version. */
  readonly defaultEngine: string | undefined;
  readonly memoryMaxBytes: number;
  readonly log: Log;
  /** The engine that is started before the first search. Default: the default engine. */
  readonly asked?: { readonly engine: string; readonly path: EnginePath | "auto" } | undefined;
  /** Called when the process of the first engine has started but the engine is still loading. */
  readonly onStarted?: (() => void) | undefined;
}

/** Finds the engines. Starts an engine in advance, so that the first search need not wait. */
export async function startEngines(options: EnginesOptions, signal: AbortSignal): Promise<Engines> {
  const { backends, defaultEngine, log, onStarted = () => {} } = options;
  const { engine, path } = options.asked ?? { engine: "latest", path: "auto" };
  const found = await Promise.all(
    backends.map(async (backend) =>
      (await backend.discover(signal)).map((build) => [build, backend] as const),
    ),
  );
  signal.throwIfAborted();
  const backendOf = new Map(found.flat());
  const builds = [...backendOf.keys()];
  const catalog = createCatalog(builds, defaultEngine);
  const resolution = catalog.resolve(engine, path);
  const pool = createPool({
    ...options,
    async start(build, starting) {
      const backend = backendOf.get(build);
      if (backend === undefined) {
        throw new Error(`no backend has found the build ${build.id}`);
      }
      return backend.start(build, starting);
    },
  });
  try {
    // Start no engine if the requested build does not exist: the search will report the error.
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
    hasRoom: pool.hasRoom,
    changes: pool.changes,
    cutShort: pool.cutShort,
    status: () => builds.map(pool.status),
    [Symbol.asyncDispose]: () => pool[Symbol.asyncDispose](),
  };
}
