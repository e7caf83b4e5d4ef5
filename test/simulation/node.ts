import { getEventListeners } from "node:events";
import type { DescMethod, Message } from "@bufbuild/protobuf";
import type { Access } from "../../src/access/access.ts";
import { type AdmitCall, type AdmittedCall, createAdmitCall } from "../../src/access/admit-call.ts";
import { kindOfCall } from "../../src/calls/policy.ts";
import { createRefusalReport } from "../../src/calls/report-call.ts";
import { EngineFailure } from "../../src/engine/engine.ts";
import { type Engines, startEngines } from "../../src/engine/engines.ts";
import { errorFromUnknown, KibitzError } from "../../src/errors/errors.ts";
import { createCallLine } from "../../src/log/call-line.ts";
import type { Log, LogFields } from "../../src/log/log.ts";
import {
  ClientDisconnected,
  closeCall,
  holdCall,
  identifyRequest,
  outcomeOf,
} from "../../src/request/context.ts";
import { StoreUnavailable } from "../../src/storage/ports.ts";
// Load this file before the first simulation: loading it later would take real time.
import "../../src/wiring/nodes.ts";
import { loadConfig } from "../../src/wiring/config.ts";
import { createDegraded } from "../../src/wiring/degraded.ts";
import { notServing, openService, openStores } from "../../src/wiring/open-service.ts";
import type { Service } from "../../src/wiring/service.ts";
import { openTables } from "../../src/wiring/tablebase.ts";
import type { Clock } from "./clock.ts";
import { createSimulatedEngines, type EngineWatch } from "./engine.ts";
import type { EngineFault } from "./engine-faults.ts";
import { watchFairShare } from "./fair-share.ts";
import type { Random } from "./random.ts";
import type { NodePlan } from "./scenario.ts";

/** What happens in a node, for the trace and the invariants. */
interface NodeWatch extends EngineWatch {
  /** A log line about a call, or about calls without lines of their own. */
  callLine(node: number, fields: LogFields): void;
  /** Called when a call has ended, with the listeners that it has left on the signal of its client. */
  left(id: string, listeners: number): void;
  /** Called before the first call, so that invariants can watch the limits. */
  opened(node: number, access: Access): void;
}

interface NodeOptions {
  readonly number: number;
  readonly plan: NodePlan;
  /** The data folder, which outlives the process. */
  readonly folder: string;
  readonly faults: readonly EngineFault[];
  /** True if the database or Redis may fail. */
  readonly hasStoreFault: boolean;
  readonly clock: Clock;
  readonly random: Random;
  readonly watch: NodeWatch;
}

/** A call as a client sends it. */
interface SentCall {
  readonly id: string;
  readonly address: string;
  readonly authorization: string | undefined;
  readonly method: DescMethod;
  readonly message: Message;
  /** Resolves when the client has read the message. */
  deliver(message: Message): Promise<void>;
}

/** `ok`, `canceled`, or the code of an error. */
export interface CallEnd {
  readonly code: string;
  readonly error?: KibitzError;
}

interface ServedCall {
  /** Rejects with ConnectionLost if the process is killed before the answer. */
  readonly ended: Promise<CallEnd>;
  /** The client disconnects. */
  leave(): void;
  /** The deadline of the client has passed. */
  beLate(): void;
}

export type SimulatedNode = ReturnType<typeof startNode>;

/** One process of the service, from its start to its end, with the real modules and without a port. */
export function startNode({
  number,
  plan,
  folder,
  faults,
  hasStoreFault,
  clock,
  random,
  watch,
}: NodeOptions) {
  const process = clock.process(`node ${number}, started at ${clock.now()}`);
  const name = `node ${number}`;
  /** The timers of invariants are not timers of the node. */
  const observing = clock.process(`observer of ${name}`);
  const engines = createSimulatedEngines({
    node: number,
    reader: process,
    builds: plan.builds,
    faults,
    clock,
    random,
    watch,
  });
  const config = loadConfig({
    ...plan.settings,
    KIBITZ_DATA_DIR: folder,
    KIBITZ_METRICS_PORT: "0",
    KIBITZ_PAGE: "off",
  });
  const hasNonsense = faults.some(({ kind }) => kind === "engine answers nonsense");
  const log = createLog();
  const degraded = createDegraded();
  const reportCall = createCallLine(log, "none");
  const reportRefused = createRefusalReport(reportCall, ({ address }) => address);
  const active = new Set<SentCall>();
  const over: { readonly method: DescMethod; readonly endedAt: number }[] = [];
  const connections = new Set<AbortController>();
  /** The calls that have an answer that their client has not read yet. */
  const unread = new Set<SentCall>();
  const killed = Promise.withResolvers<void>();
  /** Resolves when the node closes its connections: clients lose their calls, and do not get an end of the call. */
  const closed = Promise.withResolvers<void>();
  const stopping = new AbortController();
  let state: "starting" | "ready" | "stopping" | "ended" = "starting";
  let admit: AdmitCall | undefined;
  let access: Access | undefined;
  let service: Service | undefined;
  let running: Engines | undefined;
  /** The begin of the last pause. A pause that begins during another one only makes that one longer. */
  let pausedFromMs = 0;
  let pausedUntilMs = 0;
  /** True if the log tells the operator to start the server again because of its database. */
  let asksForRestart = false;

  function createLog(): Log {
    const write = (level: string) => (fields: LogFields, message: string) => {
      const { codes, count } = fields;
      if (message === "call" || codes !== undefined || count !== undefined) {
        watch.callLine(number, fields);
      } else if (level !== "debug") {
        const about = Object.entries(fields)
          .filter(([key, value]) => value !== undefined && key !== "settings")
          .map(([key, value]) => ` ${key}=${value instanceof Error ? value.stack : value}`);
        watch.trace(() => `${name} logs ${level}: ${message}${about.join("")}`);
      }
      const { err, error } = fields;
      asksForRestart ||= /kibitz\.db .*start the server again/.test(String(error));
      const isExpected =
        (hasNonsense && isProtocolError(err)) || (hasStoreFault && err instanceof StoreUnavailable);
      if (level === "error" && !isExpected) {
        watch.violation(`${name} logs an error: ${message} ${err instanceof Error ? err.stack : error}`);
      }
    };
    return { debug: write("debug"), info: write("info"), warn: write("warn"), error: write("error") };
  }

  async function open() {
    const opening: Promise<Engines> = startEngines(
      {
        backends: engines.backends,
        defaultEngine: config.defaultEngine,
        memoryMaxBytes: config.engineMemoryMb * 1e6,
        log,
      },
      stopping.signal,
    );
    opening.catch(() => {});
    await using open = new AsyncDisposableStack();
    const shared = { degraded, times: {} };
    const stores = open.use(await openStores(config, log, shared));
    access = stores.access;
    watch.opened(number, access);
    const tablebase = await openTables(config, log, open);
    running = await opening;
    const opened = open.use(
      await openService(config, log, running, stores, { ...shared, port: 8080, reportCall, tablebase }),
    );
    admit = createAdmitCall(access, () => false);
    service = opened.service;
    if (config.slots === 1 && config.redisUrl === undefined) {
      watchFairShare({ name, service, violation: watch.violation });
    }
    state = "ready";
    watch.trace(() => `${name} is ready`);
    const kept = open.move();
    return { ...opened, [Symbol.asyncDispose]: () => kept.disposeAsync() };
  }

  const opened = process.run(open);
  // A start can fail. Then the node has ended, and is started again.
  opened.catch((error: unknown) => {
    state = "ended";
    watch.trace(() => `${name} cannot start: ${error instanceof Error ? error.message : error}`);
    process.run(() => engines.kill());
    process.kill();
    killed.resolve();
  });

  /** The same steps as for a request over HTTP. */
  async function answer(sent: SentCall, { signal }: AbortController): Promise<CallEnd> {
    const { method, message } = sent;
    const req = {
      method: "POST",
      url: `/${method.name}`,
      headers: { "x-request-id": sent.id, ...(sent.authorization && { authorization: sent.authorization }) },
      socket: { remoteAddress: sent.address },
    };
    const startedAt = clock.now();
    const request = identifyRequest(req, () => false);
    const outcome = outcomeOf(req);
    active.add(sent);
    const ownListeners = 1;
    let isClosed = false;
    const close = () => {
      if (!isClosed) {
        isClosed = true;
        reportRefused(req, startedAt);
        closeCall(outcome);
      }
    };
    signal.addEventListener("abort", () => {
      if (signal.reason instanceof ClientDisconnected) {
        outcome.code ??= outcome.hasLine ? undefined : "canceled";
        close();
      }
    });
    let admitted: AdmittedCall | undefined;
    try {
      using _ = holdCall(outcome);
      try {
        if (state !== "ready" || admit === undefined) {
          throw notServing(state === "stopping");
        }
        const { calls } = (await opened).service;
        admitted = await admit(request, outcome, kindOfCall(method));
        signal.throwIfAborted();
        const { account } = admitted;
        const answers = calls.stream(method)(message, { method, request, outcome, account, signal });
        for await (const answer of answers) {
          unread.add(sent);
          try {
            await delivered(sent, answer, signal);
          } finally {
            unread.delete(sent);
          }
        }
        return { code: "ok" };
      } catch (thrown) {
        if (thrown instanceof ClientDisconnected) {
          return { code: "canceled" };
        }
        const error = errorFromUnknown(thrown);
        outcome.code ??= error.code;
        if (admitted && !outcome.hasLine) {
          await admitted.refused(error);
        }
        return { code: error.code, error };
      }
    } finally {
      close();
      active.delete(sent);
      over.push({ method, endedAt: clock.now() });
      // Look later, because work of the call may end a moment after the call.
      observing.run(() =>
        clock.at(clock.now() + listenersMs, () => watch.left(sent.id, listeners(signal) - ownListeners)),
      );
    }
  }

  return {
    number,
    name,
    process,
    engines,
    config,
    degraded: degraded.names,
    get state() {
      return state;
    },
    get access() {
      return access;
    },
    /** Rejects if the node cannot start. */
    opened,
    /** Resolves when the process has ended. */
    ended: killed.promise,
    active: () => active.size,
    /** The methods of the calls that have not ended, or have ended after `ms`. */
    methodsSince: (ms: number) =>
      [...active, ...over.filter(({ endedAt }) => endedAt > ms)].map(({ method }) => method),
    status: () => service?.scheduler.status() ?? { slots: config.slots, running: 0, waiting: 0 },
    /** The builds that cannot be started. */
    unavailable: () =>
      running
        ?.status()
        .filter(({ available }) => !available)
        .map(({ build }) => `${build.path} ${build.id}`) ?? [],
    asksForRestart: () => asksForRestart,
    ids: () => running?.catalog.versions.map(({ id }) => id) ?? [],
    pause(ms: number): void {
      if (clock.now() >= pausedUntilMs) {
        pausedFromMs = clock.now();
      }
      pausedUntilMs = Math.max(pausedUntilMs, clock.now() + ms);
      process.pause(ms);
    },
    isPaused: () => clock.now() < pausedUntilMs,
    wasPausedSince: (ms: number) => ms < pausedUntilMs,
    pausedMs: () => pausedUntilMs - pausedFromMs,
    serve(sent: SentCall): ServedCall {
      const leaving = new AbortController();
      connections.add(leaving);
      const abort = (reason: Error) => {
        if (state !== "ended") {
          process.run(() => leaving.abort(reason));
        }
      };
      return {
        ended: Promise.race([
          process.run(() => answer(sent, leaving)).finally(() => connections.delete(leaving)),
          Promise.race([killed.promise, closed.promise]).then(() => {
            throw new ConnectionLost();
          }),
        ]),
        leave: () => abort(new ClientDisconnected()),
        beLate: () => abort(new KibitzError("deadline_exceeded", "The deadline of the call has passed.")),
      };
    },
    /** Stops as after SIGTERM. Resolves with the number of calls that got no answer. */
    async stop(): Promise<number> {
      state = "stopping";
      const unansweredCalls = await process.run(async () => {
        const service = await opened;
        let unanswered = 0;
        await service.endCalls(async (maxMs) => {
          const ended = clock.now() + maxMs;
          while (active.size > 0 && clock.now() < ended) {
            await clock.time.sleep(5);
          }
          // The server cannot wait for a client that reads too slowly.
          unanswered = [...active].filter((sent) => !unread.has(sent)).length;
          closed.resolve();
          await clock.time.turn();
          for (const connection of connections) {
            connection.abort(new ClientDisconnected());
          }
        });
        await service[Symbol.asyncDispose]();
        return unanswered;
      });
      state = "ended";
      killed.resolve();
      return unansweredCalls;
    },
    kill(): void {
      state = "ended";
      process.run(() => engines.kill());
      process.kill();
      killed.resolve();
    },
  };
}

const listenersMs = 1000;

const listeners = (signal: AbortSignal) => getEventListeners(signal, "abort").length;

/** The process was killed while a client waited for its answer. */
export class ConnectionLost extends Error {}

function isProtocolError(thrown: unknown): boolean {
  const cause = thrown instanceof KibitzError ? thrown.cause : undefined;
  return cause instanceof EngineFailure && cause.kind === "protocol_error";
}

/** Throws the abort reason if the client does not wait any more. */
async function delivered({ deliver }: SentCall, message: Message, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const aborted = Promise.withResolvers<never>();
  aborted.promise.catch(() => {});
  const leave = () => aborted.reject(signal.reason);
  signal.addEventListener("abort", leave, { once: true });
  try {
    await Promise.race([deliver(message), aborted.promise]);
  } finally {
    signal.removeEventListener("abort", leave);
  }
}
