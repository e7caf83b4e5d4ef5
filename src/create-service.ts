import type { DescMethod } from "@bufbuild/protobuf";
import type { Interceptor } from "@connectrpc/connect";
import { openPlan } from "./access/plans.ts";
import { type Analyzer, createAnalyzer } from "./analysis/analyzer.ts";
import type { KnownEngines } from "./analysis/judge-request.ts";
import { createScheduler } from "./analysis/scheduler.ts";
import type { Config } from "./config.ts";
import type { EngineRoom } from "./engine/room.ts";
import type { Log } from "./log.ts";
import { createCalls, type Implementation, type UnaryCall } from "./rpc/calls.ts";
import { createChain } from "./rpc/chain.ts";
import { createImplementations } from "./rpc/routes.ts";
import { createRules, type Rules } from "./rpc/rules.ts";

/** What Kibitz does, before any door: the command line asks it directly, the server opens doors to it. */
export interface Service {
  readonly analyzer: Analyzer;
  readonly engines: KnownEngines;
  readonly implementations: readonly Implementation[];
  readonly chain: readonly Interceptor[];
  readonly rules: Rules;
  /** A method behind the chain. */
  callOf(method: DescMethod): UnaryCall;
}

export function createService(engines: EngineRoom, config: Config, log: Log): Service {
  const plan = openPlan;
  const analyzer = createAnalyzer({
    search: engines.search,
    scheduler: createScheduler(config.slots),
    movetimeMaxMs: plan.limits.movetimeMaxMs,
  });
  const rules = createRules();
  const chain = createChain(rules, log);
  const implementations = createImplementations({ analyzer, engines, plans: [plan] });
  return { analyzer, engines, implementations, chain, rules, callOf: createCalls(implementations, chain) };
}
