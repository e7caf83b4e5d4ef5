import type { DescMethod } from "@bufbuild/protobuf";
import type { Interceptor } from "@connectrpc/connect";
import type { Access } from "./access/access.ts";
import { openPlan } from "./access/plans.ts";
import { type Analyzer, createAnalyzer } from "./analysis/analyzer.ts";
import { errorFromFailure } from "./analysis/error-from-failure.ts";
import type { Findings } from "./analysis/findings.ts";
import type { KnownEngines } from "./analysis/judge-request.ts";
import { createPositionJudge } from "./analysis/position-judge.ts";
import { createScheduler, type Scheduler } from "./analysis/scheduler.ts";
import type { Config } from "./config.ts";
import { EngineFailure } from "./engine/engine.ts";
import type { EngineRoom } from "./engine/room.ts";
import type { Log } from "./log/log.ts";
import { createAddressShower } from "./log/show-address.ts";
import { createCalls, type Implementation, type UnaryCall } from "./rpc/calls.ts";
import { createChain } from "./rpc/chain.ts";
import { createJudge, type Judge } from "./rpc/judge.ts";
import { createImplementations } from "./rpc/routes.ts";
import { createRules, type Rules } from "./rpc/rules.ts";
import { createStreamCalls, type StreamCall } from "./rpc/stream-calls.ts";
import { createMemoryCache } from "./storage/memory/cache.ts";
import { type BeginWork, createTimeSlicer } from "./time-slicer.ts";

/** What Kibitz does, before any door: the command line asks it directly, the server opens doors to it. */
export interface Service {
  readonly analyzer: Analyzer;
  readonly scheduler: Scheduler;
  readonly engines: KnownEngines;
  readonly implementations: readonly Implementation[];
  readonly chain: readonly Interceptor[];
  readonly rules: Rules;
  readonly judge: Judge;
  /** Slices of the thread, for all works that take long. */
  readonly beginWork: BeginWork;
  /** A method behind the chain. */
  callOf(method: DescMethod): UnaryCall;
  /** A method that answers with a stream, behind the chain. */
  streamOf(method: DescMethod): StreamCall;
}

/** An engine that cannot be started to be asked what it is. */
function explainFailure(thrown: unknown): never {
  throw thrown instanceof EngineFailure ? errorFromFailure(thrown) : thrown;
}

export function createService(
  room: EngineRoom,
  access: Access,
  config: Config,
  log: Log,
  showAddress = createAddressShower(config.logAddresses),
): Service {
  const beginWork = createTimeSlicer();
  const scheduler = createScheduler({ slots: config.slots, maxWaitMs: config.queueMaxWaitMs });
  const analyzer = createAnalyzer({
    search: room.search,
    scheduler,
    cache: createMemoryCache<Findings>({ bytes: config.cacheMb * 1e6 }),
    movetimeMaxMs: openPlan.limits.movetimeMaxMs,
  });
  const engines: KnownEngines = {
    get catalog() {
      return room.catalog;
    },
    available: room.available,
    describe: (build) => room.describe(build).catch(explainFailure),
    judgePosition: createPositionJudge(beginWork),
  };
  const rules = createRules();
  const judge = createJudge({ access, engines, rules });
  const chain = createChain(access, rules, log, showAddress);
  const implementations = createImplementations({
    analyzer,
    engines,
    access,
    judge,
    beginWork,
    batchItemsAtOnce: config.slots + 1,
    log,
  });
  const callOf = createCalls(implementations, chain);
  const streamOf = createStreamCalls(implementations, chain);
  return { analyzer, scheduler, engines, implementations, chain, rules, judge, beginWork, callOf, streamOf };
}
