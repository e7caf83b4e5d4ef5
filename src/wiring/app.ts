import type { Access } from "../access/access.ts";
import { createClientAddress } from "../access/client-address.ts";
import type { Plan } from "../access/plans.ts";
import { createRefusalReport, createReportCall } from "../calls/report-call.ts";
import type { Engines } from "../engine/engines.ts";
import { createBodyBudget } from "../http/body-budget.ts";
import { createKindOf } from "../http/listener/count-request.ts";
import type { ListenerLimits } from "../http/listener/limits.ts";
import { createListener } from "../http/listener/listener.ts";
import type { RequestHandler } from "../http/message.ts";
import type { MetricsServer } from "../http/metrics-server.ts";
import { createApiPages } from "../http/pages/api-pages.ts";
import { createProbes } from "../http/pages/probes.ts";
import { createProblemPages } from "../http/pages/problems.ts";
import { createWebPage } from "../http/pages/web-page.ts";
import { createWelcome } from "../http/pages/welcome.ts";
import { createCallLine } from "../log/call-line.ts";
import type { Log } from "../log/log.ts";
import type { Metrics } from "../metrics/metrics.ts";
import { createRpcPathTest } from "../request/context.ts";
import { serviceNames } from "../services/implementations.ts";
import { StoreUnavailable } from "../storage/ports.ts";
import { createEventLoopLag, createHeapCheck, type EventLoopLag } from "../thread/overload.ts";
import { createBeginSpan } from "../tracing/server-span.ts";
import { connectionLimits } from "./access.ts";
import { ConfigError } from "./config.ts";
import { createDegraded, type Degraded } from "./degraded.ts";
import { descriptorsFor } from "./descriptors.ts";
import { notServing, openService, openStores, type ServiceTimes } from "./open-service.ts";
import { loadPlans, shownPlans } from "./plans.ts";
import { reloadPlans, warnOfMissingPlans } from "./plans-in-use.ts";
import {
  checkCredential,
  createCheckAnswer,
  createHealthAndReflection,
  createProtocols,
  mcpTools,
  type Protocols,
  paths,
  refuse,
  refuseUnknown,
} from "./protocols.ts";
import { createReadiness } from "./readiness.ts";
import type { SharingTimes } from "./redis.ts";
import type { Service } from "./service.ts";
import type { Config } from "./settings.ts";
import { openTables } from "./tablebase.ts";

type ServiceMetrics = Pick<Metrics, "meter" | "watch"> & Partial<Pick<MetricsServer, "serveProbes">>;

export interface AppOptions extends Partial<ServiceTimes> {
  readonly metrics?: ServiceMetrics | undefined;
  /**
   * Measures whether the thread is too busy. While the thread is too busy, calls are rejected. Disposed of when the app stops.
   */
  readonly lag?: EventLoopLag;
  readonly redis?: Partial<SharingTimes>;
  readonly heartbeatMs?: number | undefined;
  readonly listenerLimits?: Partial<ListenerLimits>;
  /** The number of refused calls in a second that get a log line of their own. */
  readonly refusalLinesMax?: number;
}

export interface App {
  readonly url: string;
  degraded(): readonly string[];
  /** Reads the plans again, and resolves with their ids. Rejects, and then changes nothing, as {@link reloadPlans} does. */
  reloadPlans(): Promise<readonly string[]>;
  /** Rejects new calls, waits for calls in flight, and then closes everything. */
  stop(): Promise<void>;
}

/**
 * Listens before the engines are ready, so that a port in use is reported early. Throws ConfigError for a wrong setting.
 * If `opening` rejects, the server is closed. Otherwise, calls are accepted as soon as `opening` resolves.
 */
export async function startApp(
  config: Config,
  log: Log,
  opening: Promise<Engines>,
  {
    lag = createEventLoopLag(),
    metrics,
    redis: redisTimes,
    heartbeatMs,
    listenerLimits,
    refusalLinesMax,
    ...times
  }: AppOptions = {},
): Promise<App> {
  /** Closes everything after the last call or after a failed start, in reverse order. */
  const open = new AsyncDisposableStack();
  open.use(lag);

  let access: Access | undefined;
  /** Resolves when everything is closed. Undefined until the server begins to stop. */
  let stopped: Promise<void> | undefined;

  const meter = metrics?.meter;
  const reportCall = createReportCall(
    createCallLine(log, config.logAddresses, "info", refusalLinesMax),
    meter,
  );
  const failed = async (error: unknown): Promise<never> => {
    await opening.then((engines) => engines[Symbol.asyncDispose]()).catch(() => {});
    await open.disposeAsync();
    throw error;
  };
  const plans = await Promise.try(loadPlans, config).catch(failed);
  const addressOf = createClientAddress(config.trustProxy, log);
  const isHeapFull = createHeapCheck();
  const bodies = createBodyBudget({
    addressOf,
    isHeapFull,
    // In the mode `open`, limit the memory: no plan limits the requests, and 1 MiB of JSON becomes up to 22 MB of objects.
    ...(config.access === "open" && {
      maxBytes: 8 * 1024 * 1024,
      shareOfFree: Number.POSITIVE_INFINITY,
    }),
  });
  const readiness = createReadiness();
  const degraded = createDegraded();
  const probes = createProbes({ ...readiness, degraded: degraded.names });
  const answerCheck = createCheckAnswer(readiness.ready);
  metrics?.serveProbes?.(probes);
  const connections = connectionLimits(config, () => access?.plans ?? plans);
  const descriptors = descriptorsFor(config);
  if (descriptors.warning !== undefined) {
    log.warn({}, descriptors.warning);
  }
  let shown: { readonly of: readonly Plan[]; readonly plans: readonly object[] } | undefined;
  /** Returns the same list as long as the plans do not change. */
  function shownOf(of: readonly Plan[]): readonly object[] {
    shown = shown?.of === of ? shown : { of, plans: shownPlans(of) };
    return shown.plans;
  }
  const hasPage = config.page === "on";
  const pages = {
    probes,
    others: [
      ...(hasPage ? [createWebPage()] : []),
      createWelcome(hasPage),
      createProblemPages(),
      createApiPages({ plans: () => access && shownOf(access.plans), tools: mcpTools }),
    ],
  };
  const listener = createListener({
    handlers: handlersIn({}, pages),
    kindOf: createKindOf(paths),
    answerProbe: async (req, res) => (await probes(req, res)) || answerCheck(req, res),
    isHeapFull,
    ...connections,
    connectionsPerAddress: Math.min(connections.connectionsPerAddress, descriptors.perAddressMax),
    refuse,
    isRpcPath: createRpcPathTest(serviceNames),
    limits: {
      connectionsMax: descriptors.connectionsMax,
      // In the mode `open`, no rate is limited.
      ...(config.access === "open" && { pageBytesPerWindow: Number.POSITIVE_INFINITY }),
      ...listenerLimits,
    },
    beginSpan: createBeginSpan(paths),
    reportRefused: createRefusalReport(reportCall, addressOf),
    corsOrigins: config.corsOrigins ?? (config.access === "public" ? ["*"] : []),
    log,
  });

  const tools = createHealthAndReflection({ ...readiness, addressOf }, bodies, log, meter);
  try {
    const { host, port } = await listener.listen(config.host, config.port).catch((error) => {
      throw new ConfigError(
        `KIBITZ_HOST and KIBITZ_PORT: cannot listen on ${config.host}:${config.port} (${error.message}).${wayOut(error)}`,
      );
    });

    const shared = { degraded, meter, times };
    const stores = open.use(
      await openStores(config, log, { ...shared, redis: redisTimes, plans, addressOf }),
    );
    access = stores.access;
    void warnOfMissingPlans(config, access, log).catch((error: unknown) => {
      if (!(error instanceof StoreUnavailable)) {
        log.error({ err: error }, "the plans of the keys could not be checked");
      }
    });
    listener.answerWith(handlersIn({ access, tools }, pages));

    const tables = openTables(config, log, open);
    const engines = await opening;
    const tablebase = await tables;
    const opened = open.use(
      await openService(config, log, engines, stores, { ...shared, port, reportCall, tablebase }),
    );
    const { service } = opened;
    if (metrics) {
      watchService(metrics, service, engines, access, degraded);
    }
    const protocols = createProtocols(service, {
      access,
      lag,
      bodies,
      config,
      heartbeatMs,
      reportCall,
      log,
    });

    listener.answerWith(handlersIn({ access, tools, protocols }, pages));

    const { defaultBuild } = engines.catalog.latest;
    const follow = () => readiness.become(engines.available(defaultBuild) ? "ready" : "starting");
    engines.changes.on("change", follow);
    follow();

    const drain = async () => {
      listener.answerWith(handlersIn({ access, tools, isStopping: true }, pages));
      engines.changes.off("change", follow);
      readiness.become("draining");
      try {
        await opened.endCalls((maxMs) => listener.stop(maxMs));
      } finally {
        await open.disposeAsync();
      }
    };
    return {
      degraded: degraded.names,
      reloadPlans: () => reloadPlans(config, stores.access),
      url: `http://${host.includes(":") ? `[${host}]` : host}:${port}`,
      stop: () => {
        stopped ??= drain();
        return stopped;
      },
    };
  } catch (error) {
    await listener.stop(0);
    return failed(error);
  }
}

/** A phase of the server: it starts, accepts calls, or stops. Each phase has its own handlers and state. */
interface Phase {
  readonly access?: Access | undefined;
  readonly tools?: RequestHandler;
  /** Undefined unless calls are accepted. */
  readonly protocols?: Protocols;
  readonly isStopping?: boolean;
}

interface Pages {
  readonly probes: RequestHandler;
  readonly others: readonly RequestHandler[];
}

/** Returns the handlers in the order in which they are tried. ARCHITECTURE.md explains the order. */
function handlersIn(
  { access, tools, protocols, isStopping = false }: Phase,
  { probes, others }: Pages,
): readonly RequestHandler[] {
  const all: readonly (RequestHandler | undefined)[] = [
    protocols?.json,
    probes,
    tools,
    protocols?.rpc,
    protocols?.mcp,
    access && ((req, res) => checkCredential(access, req, res)),
    ...others,
    protocols ? undefined : (req, res) => refuse(notServing(isStopping), req, res),
    refuseUnknown,
  ];
  return all.filter((handler) => handler !== undefined);
}

function wayOut({ code = "" }: NodeJS.ErrnoException): string {
  switch (code) {
    case "EADDRINUSE":
      return " KIBITZ_PORT=0 picks a free port.";
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
      return " KIBITZ_HOST must be an address of this machine.";
    default:
      return "";
  }
}

function watchService(
  { meter, watch }: ServiceMetrics,
  { queueStatus, analyzer }: Service,
  engines: Engines,
  access: Access,
  degraded: Degraded,
): void {
  watch({
    queue: queueStatus,
    engines: engines.status,
    waiters: analyzer.waiters,
    keys: access.lookUps,
    degraded: degraded.parts,
  });
  // Count the engines that are already running as starts of unknown duration.
  for (const { build, states } of engines.status()) {
    for (const _ of states) {
      meter.engineStarted(build, undefined);
    }
  }
  engines.changes.on("started", meter.engineStarted);
  engines.changes.on("lost", meter.engineLost);
}
