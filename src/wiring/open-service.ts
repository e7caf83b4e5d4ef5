import type { Access } from "../access/access.ts";
import type { ReportCall } from "../calls/report-call.ts";
import type { Engines } from "../engine/engines.ts";
import { KibitzError } from "../errors/errors.ts";
import type { Log } from "../log/log.ts";
import type { Meter } from "../metrics/meter.ts";
import { after, every, type Timer } from "../time/time.ts";
import { accessTimes, type OpenAccessOptions, openAccess } from "./access.ts";
import type { Degraded } from "./degraded.ts";
import { connectRedis, type SharingTimes } from "./redis.ts";
import { createService, type Service } from "./service.ts";
import type { Config } from "./settings.ts";
import { openStore } from "./store.ts";

const serviceTimes = {
  ...accessTimes,
  /** Milliseconds that searches may still run after the server has begun to stop. Longer searches are stopped. */
  drainMs: 15_000,
} as const;

export type ServiceTimes = { readonly [Time in keyof typeof serviceTimes]: number };

/**
 * Milliseconds for which the server stops each running search. Then it rejects all calls that still wait: for a search of another
 * node, for a search of their caller, for an engine, or in a queue that is too long.
 */
const cutMaxMs = 2000;

/** Milliseconds that the server waits for the answers of calls after it has begun to stop searches. Must exceed `cutMaxMs`. */
const answerMaxMs = 5000;

interface OpenServiceOptions extends Pick<OpenAccessOptions, "plans" | "addressOf"> {
  readonly port: number;
  readonly degraded: Degraded;
  readonly reportCall: ReportCall;
  readonly meter?: Meter | undefined;
  readonly redis?: Partial<SharingTimes> | undefined;
  readonly times: Partial<ServiceTimes>;
  /** Called when callers can be authenticated, before the engines are ready. */
  readonly onAccess: (access: Access) => void;
}

/** Disposing of the service closes everything. */
interface OpenService extends AsyncDisposable {
  readonly service: Service;
  readonly access: Access;
  readonly engines: Engines;
  /**
   * Call this when the server stops. Ends searches that take too long, until `answered` resolves: when all calls have ended, or
   * after the number of milliseconds that `answered` gets.
   */
  endCalls(answered: (maxMs: number) => Promise<void>): Promise<void>;
}

/** Opens what the calls need: the other nodes, the stores and the engines. If this fails, everything is closed. */
export async function openService(
  config: Config,
  log: Log,
  opening: Promise<Engines>,
  { port, degraded, reportCall, meter, redis: redisTimes, times, onAccess, ...callers }: OpenServiceOptions,
): Promise<OpenService> {
  const { drainMs, ...storeTimes } = { ...serviceTimes, ...times };
  await using open = new AsyncDisposableStack();
  const redis = open.use(await connectRedis(config, log, { times: redisTimes, degraded, meter }));
  const node = redis && open.use((await import("./nodes.ts")).joinOthers(redis, config, log, redisTimes));
  const access = open.use(await openAccess(config, log, storeTimes, { node, degraded, ...callers }));
  onAccess(access);

  const engines = await opening;
  const store = open.use(openStore(config, log, degraded));
  open.use(engines);
  const ending = new AbortController();
  const service = createService(engines, access, config, log, {
    ending: ending.signal,
    store,
    shared: node?.answers,
    reportCall,
    meter,
  });
  node?.announce(service, port);

  const kept = open.move();
  return {
    service,
    access,
    engines,
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
