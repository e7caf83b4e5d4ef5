import { isMessage } from "@bufbuild/protobuf";
import { StopReason } from "../../gen/chess/analysis/v1/analysis_pb.ts";
import {
  EvaluateBatchResponseSchema,
  StreamEvaluateResponseSchema,
} from "../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { type Call, runCall, runCaller } from "./callers.ts";
import { isAnswer } from "./check-answer.ts";
import { createClaimInvariants } from "./claim-invariants.ts";
import { createClock, startsAt } from "./clock.ts";
import { type Counts, createCounts } from "./counts.ts";
import { simulate } from "./current.ts";
import { mountDisk } from "./disk.ts";
import { bounds, createInvariants } from "./invariants.ts";
import { type SimulatedNode, startNode } from "./node.ts";
import { createRandom } from "./random.ts";
import { createSimulatedRedis, statesOf } from "./redis.ts";
import { connectClientsTo } from "./redis-client.ts";
import type { RedisFault } from "./redis-faults.ts";
import { type Act, type CallerPlan, type Scenario, startFen } from "./scenario.ts";
import { createTrace } from "./trace.ts";

export interface Report {
  readonly violations: readonly string[];
  readonly trace: readonly string[];
  readonly counts: Counts;
  readonly calls: number;
  readonly virtualMs: number;
  readonly events: number;
}

/** The number of API keys of each node. */
const keyCount = 3;

/** A supervisor starts a node that could not start again after this time. */
const restartMs = 5000;

/** Longer simulations have found a call that never ends, or a node that never starts. */
const virtualMaxMs = 3_600_000;

export async function runScenario(scenario: Scenario): Promise<Report> {
  const { seed, nodes: plans, callers, acts, faults, diskFaults, redisFaults } = scenario;
  const clock = createClock();
  simulate(seed, clock);
  const random = createRandom(seed);
  const trace = createTrace(clock.now);
  const counts = createCounts();
  const violations: string[] = [];
  const watch = { trace: (text: () => string) => trace.add(text()), count: counts.add };
  const redis = createSimulatedRedis({
    clock,
    random: random.fork("redis"),
    startsAt,
    faults: redisFaults,
    watch: { ...watch, countPair: (kind, state) => counts.add(`${kind}, ${state}`) },
  });
  connectClientsTo(redis);
  using disk = mountDisk({ faults: diskFaults, clock, watch });
  const nodes = new Map<number, SimulatedNode>();
  const keys = new Map<string, string>();
  /** The numbers of the nodes on which the operator could not create keys at the last attempt. */
  const keyless = new Set<number>();
  let calls = 0;
  let probes = 0;

  const violation = (text: string) => {
    violations.push(text);
    trace.add(`VIOLATION: ${text}`);
  };
  const onRejection = (reason: unknown) =>
    violation(`an unhandled rejection: ${reason instanceof Error ? reason.stack : reason}`);
  process.on("unhandledRejection", onRejection);
  process.on("uncaughtException", onRejection);

  const nodeOf = (number: number) => {
    const node = nodes.get(number);
    return node?.state === "ended" ? undefined : node;
  };
  const invariants = createInvariants({ clock, scenario, redis, nodeOf, violation });
  const claims = createClaimInvariants({ clock, scenario, redis, nodeOf, violation });

  function start(number: number): SimulatedNode {
    trace.add(`node ${number} is started`);
    const node = startNode({
      number,
      plan: plans[number - 1] as Scenario["nodes"][number],
      folder: disk.folderOf(number),
      faults,
      hasStoreFault: diskFaults.length + redisFaults.length > 0,
      clock,
      random: random.fork(`node ${number} at ${clock.now()}`),
      watch: {
        ...watch,
        violation,
        callLine: invariants.callLine,
        left: (id, listeners) => invariants.left(id, listeners),
        opened: invariants.opened,
      },
    });
    nodes.set(number, node);
    node.opened.then(
      () => issueKeysUntilKnown(number),
      () => startAgain(node, restartMs),
    );
    return node;
  }

  const isCluster = plans.length > 1;
  const nameOfKey = (node: number, key: number | undefined) =>
    isCluster ? `key ${key}` : `node ${node}, key ${key}`;

  /** At each start of a node, and when Redis has lost its data, the operator creates the keys that are not known. */
  async function issueKeys({ number, process, access }: SimulatedNode): Promise<void> {
    await process.run(async () => {
      const known = new Set((await access?.keys.list())?.map(({ name }) => name));
      for (let key = 0; key < keyCount; key++) {
        const name = nameOfKey(number, key);
        if (!known.has(name)) {
          const issued = await access?.keys.issue({ name, plan: "free" });
          keys.set(name, issued?.kind === "issued" ? issued.key : "");
        }
      }
    });
  }

  async function issueKeysUntilKnown(number: number): Promise<void> {
    for (;;) {
      const node = nodeOf(number);
      try {
        if (node?.state === "ready") {
          await Promise.race([issueKeys(node), node.ended]);
        }
        keyless.delete(number);
        return;
      } catch (error) {
        keyless.add(number);
        trace.add(`node ${number} can create no keys: ${error instanceof Error ? error.message : error}`);
        await sleepUntil(clock.now() + restartMs);
      }
    }
  }

  /**
   * If a database was deleted or replaced, its server creates no keys until it starts again, and the keys of the earlier database
   * are lost. The log says so, and the operator obeys.
   */
  async function restartAsTold(node: SimulatedNode): Promise<void> {
    if (!keyless.has(node.number)) {
      return;
    }
    // Try once more after the last fault.
    await sleepUntil(clock.now() + restartMs + 1);
    if (keyless.has(node.number) && node.state === "ready" && node.asksForRestart()) {
      await stop(node, bounds.stop);
      await start(node.number).opened;
      await sleepUntil(clock.now() + restartMs);
    }
  }

  function authorizationOf(node: number, key: number | undefined): string | undefined {
    if (key !== undefined && key >= keyCount) {
      return "Bearer kbz_000000000000000000000000000000000000";
    }
    const secret = keys.get(nameOfKey(node, key));
    return secret ? `Bearer ${secret}` : undefined;
  }

  const observer = {
    clock,
    clients: clock.process("clients"),
    nodeOf,
    authorizationOf,
    began(call: Call) {
      calls++;
      trace.add(`${call.id} asks node ${call.node}: ${textOf(call)}`);
      invariants.began(call);
    },
    aborts(call: Call, kind: string, node: SimulatedNode) {
      trace.add(`${call.id}: the ${kind}`);
      counts.add(kind);
      counts.add(`${kind}, ${stateOf(node)}`);
    },
    ended(call: Call) {
      if (call.unreadMs > 0) {
        counts.add("client reads slowly");
      }
      trace.add(`${call.id} ends: ${call.code}${summaryOf(call)}`);
      counts.add(`code ${call.code}`);
      countStops(call, counts);
      invariants.ended(call);
    },
  };

  async function perform(act: Act): Promise<void> {
    await sleepUntil(act.atMs);
    const node = nodeOf(act.node);
    // An operator does not stop a node that starts or stops. Such a node can be killed.
    if (node === undefined || (act.kind === "stop" && node.state !== "ready")) {
      return;
    }
    counts.add(`act ${act.kind}`);
    const states = statesOf(redis.look("KEYS", "*") as readonly string[]);
    for (const state of [stateOf(node), ...states]) {
      counts.add(`act ${act.kind}, ${state}`);
    }
    switch (act.kind) {
      case "pause":
        trace.add(`${node.name} is paused for ${act.forMs} ms`);
        node.pause(act.forMs);
        break;
      case "clock jumps":
        trace.add(`the clock of ${node.name} jumps by ${act.byMs} ms`);
        node.process.aheadMs += act.byMs;
        break;
      case "kill":
        trace.add(`${node.name} is killed`);
        node.kill();
        await startAgain(node, act.backAfterMs);
        break;
      case "stop":
        await stop(node, bounds.stop);
        await startAgain(node, act.backAfterMs);
        break;
    }
  }

  /** If a node is killed while it stops, both acts call this for the same process. */
  async function startAgain(ended: SimulatedNode, afterMs: number): Promise<void> {
    await sleepUntil(clock.now() + afterMs);
    if (nodes.get(ended.number) === ended) {
      start(ended.number);
    }
  }

  /** Creates the keys again that Redis has lost. */
  async function repair(fault: RedisFault): Promise<void> {
    if (fault.kind === "redis restarts" && !fault.keepsData) {
      await sleepUntil(fault.atMs + fault.forMs + restartMs);
      await issueKeysUntilKnown(1);
    }
  }

  async function stop(node: SimulatedNode, boundMs: number): Promise<void> {
    trace.add(`${node.name} is stopped`);
    const begunAt = clock.now();
    const unanswered = await Promise.race([node.stop(), node.ended.then(() => 0)]);
    const tookMs = clock.now() - begunAt;
    trace.add(`${node.name} has stopped`);
    const isLocked = diskFaults.some(
      (fault) =>
        fault.kind === "database is locked" &&
        fault.node === node.number &&
        fault.atMs < clock.now() &&
        fault.atMs + fault.forMs > begunAt,
    );
    if (tookMs > boundMs + (isLocked ? bounds.lockedAtStop : 0)) {
      violation(`${node.name} has stopped after ${Math.round(tookMs)} ms`);
    }
    if (unanswered > 0) {
      violation(`${node.name} has stopped without an answer to ${unanswered} calls`);
    }
    // The log sums up refused calls once a second.
    await sleepUntil(clock.now() + 1001);
    const timers = node.process.timers();
    if (timers > 0) {
      violation(`${node.name} has stopped with ${timers} timers`);
    }
    if (node.engines.phases().length > 0) {
      violation(`${node.name} has stopped with ${node.engines.phases().length} engines`);
    }
  }

  function sleepUntil(ms: number): Promise<void> {
    return new Promise((resolve) => void clock.at(ms, resolve));
  }

  async function ask(node: SimulatedNode, name: string, engine: string, search: object): Promise<Call> {
    const caller: CallerPlan = {
      name: `${name} ${engine}`,
      node: node.number,
      address: `198.51.100.${++probes % 250}`,
      key: plans[node.number - 1]?.settings.KIBITZ_ACCESS === "keys" ? 0 : undefined,
      beginMs: 0,
      together: false,
      calls: [],
    };
    const plan = {
      kind: "evaluate",
      afterMs: 0,
      search: { fen: startFen, moves: ["a2a3", "h7h6", "h2h3"], engine, ...search },
    } as const;
    return await runCall(caller, plan, `probe${probes}`, node, observer);
  }

  /** A hung engine is only noticed when a search uses it. So use all engines once. */
  async function useEngines(node: SimulatedNode): Promise<void> {
    const engines = node.engines.phases().length;
    for (const id of node.ids()) {
      for (let use = 0; use < engines; use++) {
        await ask(node, "use", id, { nodes: 500 + use });
      }
    }
  }

  /** Asks each build of the node a small question. */
  async function probe(node: SimulatedNode): Promise<void> {
    for (const build of node.unavailable()) {
      violation(`${node.name} cannot start the ${build} after the last fault`);
    }
    for (const id of node.ids()) {
      const { beganAt, endedAt = beganAt, code } = await ask(node, "probe", id, { depth: 3 });
      const tookMs = Math.round(endedAt - beganAt);
      const isUsedUp = code === "rate_limited" || code === "quota_exhausted";
      if ((code !== "ok" && !isUsedUp) || tookMs > bounds.probe) {
        violation(`${id} of ${node.name} is not available after the last fault: ${code} after ${tookMs} ms`);
      }
    }
  }

  let hasEnded = false;
  async function live(): Promise<void> {
    for (const index of plans.keys()) {
      start(index + 1);
    }
    const acting = [...acts.map(perform), ...redisFaults.map(repair)];
    const sampling = setSampler();
    // Callers begin when the nodes are ready.
    await sleepUntil(3000);
    await Promise.all(callers.map((caller) => runCaller(caller, observer)));
    await Promise.all(acting);
    const lastFaultMs = Math.max(
      0,
      ...[...faults, ...diskFaults, ...redisFaults].map(({ atMs, forMs }) => atMs + forMs),
    );
    await sleepUntil(Math.max(clock.now(), lastFaultMs));
    await Promise.all([...nodes.values()].map(restartAsTold));
    for (const node of nodes.values()) {
      if (node.state === "ready") {
        await useEngines(node);
      }
    }
    await sleepUntil(clock.now() + bounds.recovery);
    for (const index of plans.keys()) {
      const node = nodeOf(index + 1);
      if (node?.state === "ready") {
        await probe(node);
      } else {
        violation(`node ${index + 1} is not ready after the last fault`);
      }
    }
    await sleepUntil(clock.now() + bounds.quiet);
    for (const node of nodes.values()) {
      if (node.state === "ready") {
        await invariants.checkQuiet(node);
        // A node does not wait until the shared store knows that a search has ended.
        await sleepUntil(clock.now() + 1000);
      }
    }
    for (const node of nodes.values()) {
      if (node.state === "ready") {
        await stop(node, bounds.idleStop);
      }
    }
    sampling.isOver = true;
    invariants.checkLog();
    hasEnded = true;
  }

  function setSampler() {
    const sampling = { isOver: false };
    const sample = () => {
      if (!sampling.isOver) {
        invariants.sample();
        claims.sample();
        clock.at(clock.now() + bounds.sample, sample);
      }
    };
    sample();
    return sampling;
  }

  try {
    live().catch((error: unknown) => {
      violation(`the simulation failed: ${error instanceof Error ? error.stack : error}`);
      hasEnded = true;
    });
    const isComplete = await clock.run(() => hasEnded || clock.now() > virtualMaxMs);
    if (!isComplete || clock.now() > virtualMaxMs) {
      violation(`the simulation does not end: ${invariants.running()} calls run`);
    }
  } catch (error) {
    violation(`an exception ends a node: ${error instanceof Error ? error.stack : error}`);
  } finally {
    process.off("unhandledRejection", onRejection);
    process.off("uncaughtException", onRejection);
  }
  return { violations, trace: trace.lines, counts, calls, virtualMs: clock.now(), events: clock.events };
}

function stateOf(node: SimulatedNode): string {
  const { running, waiting } = node.status();
  return waiting > 0 ? "waiting" : running > 0 ? "searching" : "idle";
}

function textOf({ plan }: Call): string {
  const { kind, afterMs: _, ...rest } = plan;
  return `${kind} ${JSON.stringify(rest)}`;
}

function summaryOf({ answers }: Call): string {
  const last = answers.at(-1);
  if (isAnswer(last)) {
    const { search, bestMove } = last;
    return ` ${bestMove?.uci} depth ${search?.depth} nodes ${search?.nodes} ${stopReasonOf(search?.stopReason)}${search?.deterministic ? " deterministic" : ""}${search?.cached ? " cached" : ""}`;
  }
  return answers.length > 0 ? ` after ${answers.length} messages` : "";
}

function stopReasonOf(number: number | undefined): string {
  const [name = "none"] = Object.entries(StopReason).find(([, value]) => value === number) ?? [];
  return name.toLowerCase();
}

function countStops({ answers }: Call, counts: Counts): void {
  for (const message of answers) {
    const value = isMessage(message, StreamEvaluateResponseSchema)
      ? message.event.value
      : isMessage(message, EvaluateBatchResponseSchema)
        ? message.outcome.value
        : message;
    if (isAnswer(value as never)) {
      const { search } = value as { search?: { stopReason: StopReason } };
      if (search?.stopReason) {
        counts.add(`stop_reason ${stopReasonOf(search.stopReason)}`);
      }
    }
    if (isMessage(message, EvaluateBatchResponseSchema) && message.outcome.case === "problem") {
      counts.add(`code ${message.outcome.value.code}`);
    }
  }
}
