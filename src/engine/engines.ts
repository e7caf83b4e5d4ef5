import type { EventEmitter } from "node:events";
import type { Log } from "../log/log.ts";
import { type Catalog, createCatalog } from "./catalog.ts";
import type { EngineBackend, EngineBuild, EngineInfo, EnginePath } from "./engine.ts";
import { createPool, type EngineStanding } from "./pool.ts";
import { createSearchWithRetry, type SearchWithRetry } from "./search-with-retry.ts";
import type { EngineEvents } from "./starts.ts";

/** The engines of this node: which there are, and how to search with them. */
export interface Engines extends AsyncDisposable {
  readonly catalog: Catalog;
  readonly search: SearchWithRetry;
  /** Whether engines of the build can be started. Only at the time: one whose file is gone may come back. */
  available(build: EngineBuild): boolean;
  readonly changes: EventEmitter<EngineEvents>;
  /** Ends all searches under way as if their time were up: their callers get what was found. */
  cutShort(): void;
  describe(build: EngineBuild): Promise<EngineInfo>;
  /** The engines that there are, by their builds: of each that is listed. */
  standing(): readonly (EngineStanding & { readonly available: boolean })[];
}

export interface EnginesOptions {
  readonly backends: readonly EngineBackend[];
  /** Id that `latest` means; the newest stable version if undefined. */
  readonly defaultEngine: string | undefined;
  /** Most engines of one build that are kept idle. */
  readonly idleMax: number;
  /** Bytes that all engines together may take. */
  readonly memoryMaxBytes: number;
  readonly log: Log;
  /** What is asked for first, and so started: the default engine, unless given. */
  readonly asked?: { readonly engine: string; readonly path: EnginePath | "auto" } | undefined;
  /** Told when the first engine has been started: its process loads, and this one may be busy with something else. */
  readonly onStarted?: (() => void) | undefined;
}

/**
 * Finds the engines, starts the one that is asked for and keeps one of it, so that its callers meet a warm engine.
 *
 * What the fastest backend finds is started while the others still look: the full network takes most
 * of a second to load, a native engine a quarter of one to be tested.
 */
export async function startEngines(options: EnginesOptions, signal: AbortSignal): Promise<Engines> {
  const { backends, log, onStarted = () => {} } = options;
  const pool = createPool(options);
  try {
    const finds = backends.map((backend) => backend.discover(signal));
    // All together too: without backends nothing else would ever settle.
    const early = await Promise.race([...finds, Promise.all(finds).then((all) => all.flat())]);
    const guess = early.length > 0 ? askedBuild(early, options) : undefined;
    const guessing = new AbortController();
    const guessed = guess && pool.lend(guess, AbortSignal.any([signal, guessing.signal]));
    // Awaited below; a failure must not count as unhandled until then.
    guessed?.catch(() => {});
    onStarted();

    const builds = (await Promise.all(finds)).flat();
    signal.throwIfAborted();
    const catalog = createCatalog(builds, options.defaultEngine);
    // Where there is no such engine, whoever asks is told so; none is started in its stead.
    const asked = askedBuild(builds, options);
    if (guessed && asked === guess) {
      pool.giveBack(await guessed);
    } else {
      // A full network that nobody asked for is half a gigabyte of memory.
      guessing.abort();
      void guessed?.then(
        (session) => session[Symbol.asyncDispose](),
        () => guess && pool.breakOff(guess),
      );
      if (asked) {
        pool.giveBack(await pool.lend(asked, signal));
      }
    }
    if (asked) {
      pool.keepWarm(asked);
    }
    return {
      catalog,
      search: createSearchWithRetry(pool, log),
      available: pool.available,
      changes: pool.changes,
      cutShort: pool.cutShort,
      describe: pool.describe,
      standing() {
        const there = new Map(pool.standing().map((standing) => [standing.build, standing]));
        return builds.map((build) => ({
          ...(there.get(build) ?? { build, states: [], memoryBytes: 0 }),
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
