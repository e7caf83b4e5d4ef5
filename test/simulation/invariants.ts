import { getEventListeners } from "node:events";
import { isMessage } from "@bufbuild/protobuf";
import {
  EvaluateBatchResponseSchema,
  StreamEvaluateResponseSchema,
} from "../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { ReviewGameResponseSchema } from "../../gen/chess/analysis/v1/game_service_pb.ts";
import type { Access } from "../../src/access/access.ts";
import type { Account } from "../../src/access/account.ts";
import type { LogFields } from "../../src/log/log.ts";
import type { Call } from "./callers.ts";
import { type Answer, faultOf, faultOfReview, isAnswer } from "./check-answer.ts";
import type { Clock } from "./clock.ts";
import { simulated } from "./current.ts";
import { type Admitted, watchEngineTime } from "./engine-time.ts";
import { createLimitInvariants } from "./limit-invariants.ts";
import type { SimulatedNode } from "./node.ts";
import type { createSimulatedRedis } from "./redis.ts";
import type { NodePlan, Scenario, SearchPlan } from "./scenario.ts";
import { createTooLong } from "./too-long.ts";

/** The bounds of the invariants, in milliseconds unless the name says otherwise. */
export const bounds = {
  /** From the end of the client or of its deadline until the call has ended. */
  afterAbort: 500,
  /** With Redis, a command may be under way, and another one then gives back what the call has taken. Each takes up to 450 ms. */
  afterAbortInCluster: 1000,
  /** From the end of the last caller of a search until the search has ended: an engine gets 400 ms to stop. */
  unwanted: 500,
  /** A search that waits gets a free slot within this time. */
  unused: 300,
  /** The longest start of an engine, and the part for each MiB of its hash. */
  engineStart: 15_000,
  engineStartPerHashMb: 5,
  /** Added to the two attempts of a search. */
  watchdogs: 1500,
  /** The interval in which the simulation looks at the queue. */
  sample: 100,
  /** A place of a killed node ends after this time. */
  lease: 10_000,
  /** After the last fault, everything is available again within this time. */
  recovery: 30_000,
  /** A probe of an idle node. */
  probe: 5000,
  /** After the last call, nothing is held. */
  quiet: 10_000,
  /** The number of timers of an idle node that repeat without end, without and with Redis, while Redis executes no command. */
  idleTimers: 2,
  idleTimersOfCluster: 5,
  /** A stop: the searches may run for 15 s, and are answered within 5 s. */
  stop: 20_500,
  /** Added to a stop while the database is locked. */
  lockedAtStop: 3000,
  /** The stop of an idle node. */
  idleStop: 6000,
} as const;

/** The plans of callers limit a search without `movetime_ms`. */
function movetimeMaxOf(settings: NodePlan["settings"], hasKey: boolean): number {
  return settings.KIBITZ_ACCESS === "open" || hasKey ? 60_000 : 5000;
}

interface Running {
  readonly call: Call;
  /** The time in which the call had to wait for others, or for its client. */
  excusedMs: number;
  isReported: boolean;
}

interface InvariantsOptions {
  readonly clock: Clock;
  readonly scenario: Scenario;
  readonly redis: ReturnType<typeof createSimulatedRedis>;
  nodeOf(number: number): SimulatedNode | undefined;
  violation(text: string): void;
}

export function createInvariants({ clock, scenario, redis, nodeOf, violation }: InvariantsOptions) {
  const { nodes: plans } = scenario;
  const running = new Map<string, Running>();
  /** The calls that have ended, and that have no log line yet. */
  const unlogged = new Map<string, Call>();
  const logged = new Set<string>();
  const limits = createLimitInvariants({ clock, scenario, redis, nodeOf, violation });
  const isUnwanted = createTooLong<SimulatedNode>(clock.now);
  const isUnused = createTooLong<SimulatedNode>(clock.now);
  const engineTimes = new Map<number, ReturnType<typeof watchEngineTime>>();
  /** All nodes so far, also those that have ended. */
  const started = new Set<SimulatedNode>();
  const searchedMs = () => [...started].reduce((sum, { engines }) => sum + engines.searchingMs(), 0);
  const ready = () => [...started].filter(({ state }) => state === "ready");
  const admitted = new Set<Admitted>();
  const chargedOf = new Map<number, Map<string, Account>>();
  let summedUp = 0;

  const planOf = (number: number) => plans[number - 1] as NodePlan;

  const sleepUntil = (ms: number) => new Promise<void>((resolve) => void clock.at(ms, resolve));

  /** The time that a search may take if it waits for nobody. */
  function searchBoundMs({ caller, node }: Call, { movetimeMs }: Pick<SearchPlan, "movetimeMs">): number {
    const { settings, builds } = planOf(node);
    const hashMb = builds[0]?.settings.hashMb ?? 0;
    const startMs = bounds.engineStart + bounds.engineStartPerHashMb * hashMb;
    const longestMs = movetimeMs ?? movetimeMaxOf(settings, caller.key !== undefined);
    const ownMs = 2 * (startMs + longestMs) + bounds.watchdogs;
    // In a cluster, the call first waits for an equal search of another node.
    return plans.length === 1 ? ownMs : 2 * ownMs + bounds.lease;
  }

  const afterAbortMs = plans.length === 1 ? bounds.afterAbort : bounds.afterAbortInCluster;

  function boundMs(call: Call): number {
    const { plan } = call;
    switch (plan.kind) {
      case "evaluateBatch":
        return plan.searches.reduce((sum, search) => sum + searchBoundMs(call, search), 0);
      case "reviewGame":
        return (plan.game.moves.length + 1) * searchBoundMs(call, {});
      default:
        return searchBoundMs(call, plan.search);
    }
  }

  /** The nodes for which a call may have to wait: in a cluster, nodes wait for searches of others. */
  const others = (own: number) => (plans.length === 1 ? [own] : plans.map((_, index) => index + 1));

  function isInTheWay(number: number, call: Call): boolean {
    const node = nodeOf(number);
    const status = node?.state === "ready" ? node.status() : undefined;
    const isBusy = status !== undefined && status.running >= status.slots;
    return isBusy || node?.isPaused() === true || limits.isFull(number, call);
  }

  function checkTimes(): void {
    const now = clock.now();
    for (const one of running.values()) {
      const { call } = one;
      const node = nodeOf(call.node);
      if (others(call.node).some((number) => isInTheWay(number, call))) {
        one.excusedMs += bounds.sample;
      }
      const { beganAt, unreadMs, abortedAt } = call;
      const bound = boundMs(call) + one.excusedMs + unreadMs;
      const isLate = now - beganAt > bound + 2 * bounds.sample;
      const isLateAfterAbort =
        abortedAt !== undefined && now - abortedAt > afterAbortMs + bounds.sample + (node?.pausedMs() ?? 0);
      if ((isLate || isLateAfterAbort) && !one.isReported) {
        one.isReported = true;
        const since = isLateAfterAbort ? "its client has gone, or its deadline passed" : "it began";
        violation(
          `${call.id} has not ended ${Math.round(now - (isLateAfterAbort ? abortedAt : beganAt))} ms after ${since}`,
        );
      }
    }
  }

  /**
   * A search that everybody has left ends within `bounds.unwanted`. Callers count until then, because several callers may leave one
   * after the other, and the engine of each of their searches may hang. No search waits while a slot is free. No more searches run
   * than slots, except one short search.
   */
  function checkSearches(): void {
    for (const node of ready()) {
      const { slots, running, waiting } = node.status();
      const since = clock.now() - bounds.unwanted;
      const wanted = node
        .methodsSince(since)
        .reduce(
          (sum, { name }) => sum + (name === "EvaluateBatch" || name === "ReviewGame" ? slots + 1 : 1),
          0,
        );
      if (running > slots + 1) {
        violation(`${node.name} runs ${running} searches with ${slots} slots`);
      }
      const isTooMuch = !node.wasPausedSince(since) && (running > wanted || (wanted === 0 && waiting > 0));
      if (isUnwanted(node, isTooMuch, 0)) {
        violation(`${node.name} runs ${running} searches, and ${waiting} wait, for ${wanted} callers`);
      }
      const isFree = !node.isPaused() && waiting > 0 && running < slots;
      if (isUnused(node, isFree, bounds.unused)) {
        violation(`${node.name} has ${slots - running} free slots, but ${waiting} searches wait`);
      }
    }
  }

  function checkAnswers(call: Call): void {
    const { plan, answers, code } = call;
    const check = (answer: Answer, search: SearchPlan) => {
      const fault = faultOf(answer, search, planOf(call.node));
      if (fault !== undefined) {
        violation(`${call.id}: the answer ${fault}`);
      }
    };
    if (code === "ok" && answers.length === 0) {
      violation(`${call.id} ended without an answer`);
    }
    if ((code === "canceled" || code === "deadline_exceeded") && call.abortedAt === undefined) {
      violation(`${call.id} ended with ${code}, but its client waits, and its deadline has not passed`);
    }
    const seen = new Set<number>();
    for (const message of answers) {
      if (isAnswer(message) && "search" in plan) {
        check(message, plan.search);
      } else if (isMessage(message, StreamEvaluateResponseSchema) && "search" in plan) {
        if (isAnswer(message.event.value)) {
          check(message.event.value, plan.search);
        }
      } else if (isMessage(message, EvaluateBatchResponseSchema) && plan.kind === "evaluateBatch") {
        const { index, outcome } = message;
        const search = plan.searches[index];
        if (seen.has(index) || search === undefined) {
          violation(`${call.id}: the item ${index} was answered twice, or was not asked`);
        } else if (isAnswer(outcome.value)) {
          check(outcome.value, search);
        }
        seen.add(index);
      }
    }
    if (code === "ok" && plan.kind === "evaluateBatch" && seen.size !== plan.searches.length) {
      violation(`${call.id} ended with ${seen.size} of ${plan.searches.length} answers`);
    }
    const last = answers.at(-1);
    if (code === "ok" && plan.kind === "reviewGame") {
      const events = answers.flatMap((answer) =>
        isMessage(answer, ReviewGameResponseSchema) ? [answer.event] : [],
      );
      const moves = events.flatMap((event) => (event.case === "move" ? [event.value] : []));
      const review = events.at(-1);
      const fault =
        review?.case === "review"
          ? faultOfReview(review.value, moves, plan.game, planOf(call.node))
          : "has no end";
      if (fault !== undefined) {
        violation(`${call.id}: the review ${fault}`);
      }
    }
    if (code === "ok" && isMessage(last, StreamEvaluateResponseSchema)) {
      const { value } = last.event;
      if (!isAnswer(value) || !value.search?.stopReason) {
        violation(`${call.id} ended without its last state`);
      }
    }
  }

  return {
    began(call: Call): void {
      running.set(call.id, { call, excusedMs: 0, isReported: false });
    },
    ended(call: Call): void {
      running.delete(call.id);
      checkAnswers(call);
      if (call.code !== "lost" && !logged.has(call.id)) {
        unlogged.set(call.id, call);
      }
    },
    callLine(_: number, { requestId, code, count }: LogFields): void {
      if (count !== undefined) {
        summedUp += count;
      } else if (requestId !== undefined && logged.has(requestId)) {
        violation(`${requestId} has a second log line with the code ${code}`);
      } else if (requestId !== undefined) {
        logged.add(requestId);
        unlogged.delete(requestId);
      }
    },
    opened(number: number, access: Access): void {
      limits.opened(number, access);
      const node = nodeOf(number);
      if (node) {
        const charged = chargedOf.get(number) ?? new Map();
        chargedOf.set(number, charged);
        started.add(node);
        engineTimes.set(
          number,
          watchEngineTime({ node, access, clock, searchedMs, admitted, charged, violation }),
        );
      }
    },
    sample(): void {
      checkTimes();
      limits.sample();
      checkSearches();
    },
    running: () => running.size,
    left(id: string, listeners: number): void {
      if (listeners > 0) {
        violation(`${id} has ended, and has left ${listeners} listeners`);
      }
    },
    /** Call this when no call has run for some time. */
    async checkQuiet(node: SimulatedNode): Promise<void> {
      const { running: runs, waiting } = node.status();
      if (runs + waiting > 0) {
        violation(`${node.name} is quiet, but ${runs} searches run and ${waiting} wait`);
      }
      if (node.active() > 0) {
        violation(`${node.name} is quiet, but works on ${node.active()} calls`);
      }
      // A command to Redis has timers until its reply.
      while (redis.isAsked(node.number)) {
        await sleepUntil(clock.now() + 1);
      }
      const timers = node.process.timers();
      const timersMax = plans.length === 1 ? bounds.idleTimers : bounds.idleTimersOfCluster;
      if (timers > timersMax) {
        violation(`${node.name} is quiet, but has ${timers} timers instead of ${timersMax}`);
      }
      const signals = (simulated().composites.get(node.process.name) ?? []).filter(
        (signal) => !signal.aborted && getEventListeners(signal, "abort").length > 0,
      );
      if (signals.length > 0) {
        violation(`${node.name} is quiet, but ${signals.length} composite signals have listeners`);
      }
      const keys = redis.look("KEYS", "*") as readonly string[];
      const held = keys.filter((key) => /:(claim|places|turns):/.test(key));
      if (held.length > 0) {
        violation(`all is quiet, but Redis has ${held.join(" and ")}`);
      }
      const busy = node.engines.phases().filter((phase) => phase === "searching" || phase === "cleaning");
      if (busy.length > 0) {
        violation(`${node.name} is quiet, but has engines that are ${busy.join(" and ")}`);
      }
      await Promise.race([node.process.run(() => limits.checkQuiet(node)), node.ended]);
      await Promise.race([node.process.run(() => engineTimes.get(node.number)?.checkWindows()), node.ended]);
    },
    checkLog(): void {
      const missing = unlogged.size - summedUp;
      if (missing > 0) {
        violation(
          `${missing} calls have no log line, such as ${[...unlogged.keys()].slice(0, 3).join(", ")}`,
        );
      }
    },
  };
}
