import { getHeapStatistics } from "node:v8";
import type { Access } from "../access/access.ts";
import { openPlan } from "../access/plans.ts";
import type { SearchResult } from "../analysis/analysis.ts";
import { type Analyzer, createAnalyzer } from "../analysis/analyzer.ts";
import { createLookUpTables } from "../analysis/apply-tablebase.ts";
import { createOwnSchedulers } from "../analysis/own-schedulers.ts";
import { createScheduler, type Scheduler } from "../analysis/scheduler.ts";
import { createSharing, type SharingOptions } from "../analysis/share-searches.ts";
import { createPositionCache, type KnownEngines } from "../analysis/validate-request.ts";
import { type Calls, createCalls } from "../calls/create-calls.ts";
import { apiMiddleware } from "../calls/middleware.ts";
import { createReportCall, type ReportCall } from "../calls/report-call.ts";
import { createRulebook, type Rulebook } from "../calls/rulebook.ts";
import type { Engines } from "../engine/engines.ts";
import { createCallLine } from "../log/call-line.ts";
import type { Log } from "../log/log.ts";
import type { Meter } from "../metrics/meter.ts";
import { createCharge } from "../services/charge.ts";
import { createImplementations } from "../services/implementations.ts";
import { createValidate, type Validate } from "../services/validate.ts";
import { createMemoryCache } from "../storage/memory/cache.ts";
import type { AnswerCache, AnswerStore } from "../storage/ports.ts";
import type { Tablebase } from "../tablebase/tablebase.ts";
import { type BeginWork, createTimeSlicer } from "../thread/time-slices.ts";
import { ConfigError } from "./config.ts";
import type { Config } from "./settings.ts";

/** The service without network protocols, for the server and the command line. */
export interface Service {
  readonly analyzer: Analyzer;
  readonly scheduler: Scheduler;
  /** The searches of all engines, also of those that have slots of their own. */
  readonly queueStatus: Scheduler["status"];
  readonly engines: KnownEngines;
  readonly validate: Validate;
  readonly rulebook: Rulebook;
  /** Divides a long task into time slices. The thread can do other work between two slices. */
  readonly beginWork: BeginWork;
  readonly calls: Calls;
}

export interface ServiceOptions {
  readonly tablebase: Tablebase;
  /** The longest time in milliseconds that a call waits for endgame tables that are being verified. */
  readonly tablesMaxWaitMs: number;
  readonly store?: AnswerStore<SearchResult> | undefined;
  readonly shared?: Omit<SharingOptions, "cache"> | undefined;
  /** By default, the settings decide how addresses are logged. */
  readonly reportCall?: ReportCall;
  readonly meter?: Meter | undefined;
  /** Aborts when the server has to end. Calls that still wait or search are then rejected with the abort reason. */
  readonly ending?: AbortSignal;
}

export function createService(
  running: Engines,
  access: Access,
  config: Config,
  log: Log,
  {
    tablebase,
    tablesMaxWaitMs,
    store,
    shared,
    meter,
    ending,
    reportCall = createReportCall(createCallLine(log, config.logAddresses), meter),
  }: ServiceOptions,
): Service {
  const cache = openCache(config);
  const beginWork = createTimeSlicer();
  const scheduler = createScheduler({ slots: config.slots, maxWaitMs: config.queueMaxWaitMs });
  const builds = running.catalog.versions.flatMap((version) => version.builds);
  const ownSchedulers = createOwnSchedulers(builds, config.queueMaxWaitMs);
  const analyzer = createAnalyzer({
    search: running.search,
    hasRoom: running.hasRoom,
    scheduler,
    ownSchedulerOf: ownSchedulers.of,
    cache,
    store,
    meter,
    sharing: shared && createSharing({ ...shared, cache }),
    lookUpTables: createLookUpTables({
      tablebase,
      beginWork,
      maxWaitMs: tablesMaxWaitMs,
      onError: (err) => log.error({ err }, "the endgame tables could not be used"),
    }),
    movetimeMaxMs: openPlan.limits.movetimeMaxMs,
    ending,
  });
  const engines: KnownEngines = {
    catalog: running.catalog,
    available: running.available,
    validatePosition: createPositionCache(beginWork),
  };
  const validate = createValidate({ access, engines, beginWork });
  const charge = createCharge(access.limits, analyzer.timeOf, ending);
  const implementations = createImplementations({
    analyzer,
    engines,
    access,
    validate,
    charge,
    beginWork,
    tablebase,
    tablesMaxWaitMs,
    searchesAtOnce: config.slots + 1,
    log,
  });
  const calls = createCalls(implementations, apiMiddleware(access, validate.message, reportCall));
  const rulebook = createRulebook({ beginWork, charge });
  const queueStatus = () => ownSchedulers.total(scheduler.status());
  return { analyzer, scheduler, queueStatus, engines, validate, rulebook, beginWork, calls };
}

/** Throws ConfigError if the cache would need more than half of the heap. */
export function openCache({ cacheMb }: Config): AnswerCache<SearchResult> {
  const heapMb = Math.floor(getHeapStatistics().heap_size_limit / 1e6);
  if (cacheMb > heapMb / 2) {
    throw new ConfigError(
      `KIBITZ_CACHE_MB: ${cacheMb} MB is more than half of the ${heapMb} MB that Node gives this process. Name less; 0 turns the cache off.`,
    );
  }
  return createMemoryCache<SearchResult>({ bytes: cacheMb * 1e6 });
}
