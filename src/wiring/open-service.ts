import type { Access } from "../access/access.ts";
import type { ReportCall } from "../calls/report-call.ts";
import type { Engines } from "../engine/engines.ts";
import { KibitzError } from "../errors/errors.ts";
import type { Log } from "../log/log.ts";
import type { Meter } from "../metrics/meter.ts";
import type { Tablebase } from "../tablebase/tablebase.ts";
import { after, every, type Timer } from "../time/time.ts";
import { accessTimes, type OpenAccessOptions, openAccess } from "./access.ts";
import type { Degraded } from "./degraded.ts";
import type { joinOthers } from "./nodes.ts";
import { connectRedis, type SharingTimes } from "./redis.ts";
import { createService, type Service } from "./service.ts";
import type { Config } from "./settings.ts";
import { openStore } from "./store.ts";

const serviceTimes = {
  ...accessTimes,
  /** Milliseconds that searches may still run after the server has begun to stop. Longer searches are stopped. */
  drainMs: 15_000,
  /** Milliseconds that the server waits for the answers of calls after `drainMs`. Must exceed `cutMaxMs`. */
  answerMaxMs: 5000,
  /** Milliseconds that a call waits for endgame tables that are being verified. */
  tablesMaxWaitMs: 200,
} as const;

export type ServiceTimes = { readonly [Time in keyof typeof serviceTimes]: number };

/**
 * Milliseconds for which the server stops each running search. Then it rejects all calls that still wait: for a search of another
 * node, for a search of their caller, for an engine, or in a queue that is too long.
 */
const cutMaxMs = 2000;

interface OpenStoresOptions extends Pick<OpenAccessOptions, "plans" | "addressOf"> {
  readonly degraded: Degraded;
  readonly meter?: Meter | undefined;
  readonly redis?: Partial<SharingTimes> | undefined;
  readonly times: Partial<ServiceTimes>;
}

/** The stores that authenticate callers, also before the engines are ready. Disposing of the result closes them. */
interface OpenStores extends AsyncDisposable {
  readonly access: Access;
  /** Undefined if there are no other nodes. */
  readonly node: ReturnType<typeof joinOthers> | undefined;
}

/** Connects to the other nodes, and opens the stores of keys and limits. If this fails, what was opened is closed. */
export async function openStores(
  config: Config,
  log: Log,
  { degraded, meter, redis: redisTimes, times, ...callers }: OpenStoresOptions,
): Promise<OpenStores> {
  const { drainMs: _, answerMaxMs: __, tablesMaxWaitMs: ___, ...storeTimes } = { ...serviceTimes, ...times };
  await using open = new AsyncDisposableStack();
  const redis = open.use(await connectRedis(config, log, { times: redisTimes, degraded, meter }));
  const node = redis && open.use((await import("./nodes.ts")).joinOthers(redis, config, log, redisTimes));
  const access = open.use(await openAccess(config, log, storeTimes, { node, degraded, ...callers }));
  const kept = open.move();
  return { access, node, [Symbol.asyncDispose]: () => kept.disposeAsync() };
}

interface OpenServiceOptions extends Pick<OpenStoresOptions, "degraded" | "meter" | "times"> {
  readonly port: number;
  readonly reportCall: ReportCall;
  readonly tablebase: Tablebase;
}

/** Disposing of the service closes the engines and the stored answers. */
interface OpenService extends AsyncDisposable {
  readonly service: Service;
  /**
   * Call this when the server stops. Ends searches that take too long, until `answered` resolves: when all calls have ended, or
   * after the number of milliseconds that `answered` gets.
   */
  endCalls(answered: (maxMs: number) => Promise<void>): Promise<void>;
}

/** Opens what the calls need besides the stores. If this fails, the engines and the stored answers are closed. */
export async function openService(
  config: Config,
  log: Log,
  engines: Engines,
  { access, node }: OpenStores,
  { port, degraded, reportCall, tablebase, meter, times }: OpenServiceOptions,
): Promise<OpenService> {
  const { drainMs, answerMaxMs, tablesMaxWaitMs } = { ...serviceTimes, ...times };
  await using open = new AsyncDisposableStack();
  const store = open.use(openStore(config, log, degraded));
  open.use(engines);
  const ending = new AbortController();
  const service = createService(engines, access, config, log, {
    ending: ending.signal,
    tablebase,
    tablesMaxWaitMs,
    store,
    shared: node?.answers,
    reportCall,
    meter,
  });
  node?.announce(service, port);

  const kept = open.move();
  return {
    service,
    async endCalls(answered) {
      // Repeat this, because a queued search starts whenever another search ends.
      let cutting: Timer | undefined;
      const late = after(drainMs, () => {
        engines.cutShort();
        cutting = every(100, () => engines.cutShort());
      });
      const last = after(drainMs + cutMaxMs, () => ending.abort(notServing(true)));
      try {
        await answered(drainMs + answerMaxMs);
      } finally {
        late.cancel();
        last.cancel();
        cutting?.cancel();
      }
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

/** The error for a call that arrives before the engines are ready, or after the server has begun to stop. */
export function notServing(isStopping: boolean): KibitzError {
  return isStopping
    ? new KibitzError("shutting_down", "This server is stopping and accepts no new work.", {
        retryAfterMs: 5000,
      })
    : new KibitzError("starting", "The engine is being started.", { retryAfterMs: 1000 });
}
