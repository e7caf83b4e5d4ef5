import type { EventEmitter } from "node:events";
import type { Log } from "../log/log.ts";
import { type Catalog, createCatalog } from "./catalog.ts";
import type { EngineBackend, EngineBuild, EngineInfo, EnginePath } from "./engine.ts";
import { createPool, type EngineEvents, type EngineStanding } from "./pool.ts";
import { createSearchWithRetry, type SearchWithRetry } from "./search-with-retry.ts";

/** The engines of this node: which there are, and how to search with them. */
export interface Engines extends AsyncDisposable {
  readonly catalog: Catalog;
  readonly search: SearchWithRetry;
  /** True if engines of the build can be started. It may change: a file that is gone may come back. */
  available(build: EngineBuild): boolean;
  readonly changes: EventEmitter<EngineEvents>;
  /** Ends all searches under way as if their time were up: their callers get what was found. */
  cutShort(): void;
  describe(build: EngineBuild): Promise<EngineInfo>;
  /** The running engines of each build in the catalog. */
  standing(): readonly (EngineStanding & { readonly available: boolean })[];
}

export interface EnginesOptions {
  readonly backends: readonly EngineBackend[];
  /** Id that `latest` means; the newest stable version if undefined. */
  readonly defaultEngine: string | undefined;
  /** Most idle engines of one build. */
  readonly idleMax: number;
  /** Bytes that all engines together may take. */
  readonly memoryMaxBytes: number;
  readonly log: Log;
  /** The engine to keep warm; the default engine if undefined. */
  readonly asked?: { readonly engine: string; readonly path: EnginePath | "auto" } | undefined;
  /** Called when the first engine loads in its process, so that this process may do something else. */
  readonly onStarted?: (() => void) | undefined;
}

/**
 * Finds the engines, and keeps one of the requested build warm: its callers meet an engine that has started.
 *
 * The best build of the fastest backend is started while the others still look, because the full network takes most of a
 * second to load, and a native engine a quarter of a second to be tested. If that guess was wrong, its engine is closed.
 */
export async function startEngines(options: EnginesOptions, signal: AbortSignal): Promise<Engines> {
  const { backends, log, onStarted = () => {} } = options;
  const pool = createPool(options);
  try {
    const finds = backends.map((backend) => backend.discover(signal));
    // All together too: without backends nothing else would ever settle.
    const early = await Promise.race([...finds, Promise.all(finds).then((all) => all.flat())]);
    const guess = early.length > 0 ? askedBuild(early, options) : undefined;
    const guessed = pool.keepWarm(guess, signal);
    // Awaited below; a failure must not count as unhandled until then.
    guessed.catch(() => {});
    onStarted();

    const builds = (await Promise.all(finds)).flat();
    signal.throwIfAborted();
    const catalog = createCatalog(builds, options.defaultEngine);
    // If there is no such engine, the caller learns that later; no other engine is started instead.
    const asked = askedBuild(builds, options);
    await (asked === guess ? guessed : pool.keepWarm(asked, signal));
    return {
      catalog,
      search: createSearchWithRetry(pool, log),
      available: pool.available,
      changes: pool.changes,
      cutShort: pool.cutShort,
      describe: pool.describe,
      standing() {
        const running = new Map(pool.standing().map((standing) => [standing.build, standing]));
        return builds.map((build) => ({
          ...(running.get(build) ?? { build, states: [], memoryBytes: 0 }),
          available: pool.available(build),
        }));
      },
      [Symbol.asyncDispose]: () => pool[Symbol.asyncDispose](),
    };
  } catch (error) {
    await pool[Symbol.asyncDispose]();
    throw error;
  }
}

function askedBuild(
  builds: readonly EngineBuild[],
  { defaultEngine, asked = { engine: "latest", path: "auto" } }: EnginesOptions,
): EngineBuild | undefined {
  const isDefaultThere = defaultEngine === undefined || builds.some(({ id }) => id === defaultEngine);
  const resolution = isDefaultThere
    ? createCatalog(builds, defaultEngine).resolve(asked.engine, asked.path)
    : undefined;
  return resolution?.kind === "build" ? resolution.build : undefined;
}
