import type { DescMethod } from "@bufbuild/protobuf";
import type { Access } from "../access/access.ts";
import { createAdmitCall } from "../access/admit-call.ts";
import { withLog } from "../calls/middleware.ts";
import { kindOfCall } from "../calls/policy.ts";
import { createCalls } from "../calls/register.ts";
import type { Engines } from "../engine/engines.ts";
import { errorFromUnknown, KibitzError } from "../errors/errors.ts";
import { type BodyBudget, createBodyBudget } from "../http/body-budget.ts";
import { corsOfUnparsed, createCors } from "../http/listener/cors.ts";
import { createListener } from "../http/listener/listener.ts";
import type { NodeRequest, NodeResponse, RequestHandler } from "../http/message.ts";
import { createApiPages } from "../http/pages/docs.ts";
import { createProbes, createReadiness } from "../http/pages/probes.ts";
import { createProblemPages } from "../http/pages/problems.ts";
import { createWebPage } from "../http/pages/web-page.ts";
import { createWelcome } from "../http/pages/welcome.ts";
import { createAddressShower, createCallLine, createRefusalLog } from "../log/call-line.ts";
import type { Log } from "../log/log.ts";
import { type ConnectAdapter, createConnectAdapter } from "../protocols/connect/adapter.ts";
import { createAdmittance } from "../protocols/connect/admittance.ts";
import { createMessageCheck } from "../protocols/connect/check-message.ts";
import { createHandlers } from "../protocols/connect/handlers.ts";
import { unknownMethod } from "../protocols/connect/refuse-call.ts";
import { createGateway } from "../protocols/json/gateway.ts";
import { contextOf, outcomeOf, type RequestContext } from "../request/context.ts";
import { apiServices, createToolImplementations, serviceNames } from "../services/routes.ts";
import type { Redis } from "../storage/redis/connection.ts";
import { createEventLoopLag, createTimeSlicer, type EventLoopLag } from "../thread/event-loop.ts";
import { createBeginSpan } from "../tracing/server-span.ts";
import { accessTimes, connectionLimits, openAccess } from "./access.ts";
import { type AgentsOptions, agentsTools, createAgentsEndpoint } from "./agents.ts";
import { ConfigError } from "./config.ts";
import { createDegraded } from "./degraded.ts";
import { shownPlans } from "./plans.ts";
import { connectRedis, type SharingTimes, shareAnswers } from "./redis.ts";
import { checkCredential, refuse, refuseUnknown } from "./refuse.ts";
import { createService, type Service } from "./service.ts";
import type { Config } from "./settings.ts";
import { openStore } from "./store.ts";
import { tracedPaths } from "./traced-paths.ts";
import { type ServiceMetrics, watchService } from "./watch-service.ts";

/** Waiting times of an app, in milliseconds. */
export const appTimes = {
  ...accessTimes,
  /** How long a stop waits for calls in flight before it cuts their searches short. */
  drainMs: 15_000,
} as const;

/** As {@link appTimes}; tests make them short. */
export type AppTimes = { readonly [Time in keyof typeof appTimes]: number };

/** Options that not every app needs, or that only tests set. */
export interface AppOptions extends Partial<AppTimes> {
  /** Counts calls, searches and engines. */
  readonly metrics?: ServiceMetrics | undefined;
  /** Notices when the thread is too busy to read calls, which are refused then. Closed with the app. */
  readonly lag?: EventLoopLag;
  readonly redis?: Partial<SharingTimes>;
  /** See `AnswerOptions`. */
  readonly heartbeatMs?: number | undefined;
}

/** How long answers may take after the searches were cut short, in milliseconds: some of them still wait for an engine. */
const answerMaxMs = 5000;

/** The one RPC that load balancers probe with. */
const healthCheckPath = "/grpc.health.v1.Health/Check";

/** Probes do not count as calls: they are answered however many calls are under way. */
const probePaths: ReadonlySet<string> = new Set(["/healthz", "/readyz", healthCheckPath]);

/** A server that answers. */
export interface App {
  /** Where it listens: `http://127.0.0.1:8080`. */
  readonly url: string;
  /** Names of the parts that are degraded, such as `store`. */
  degraded(): readonly string[];
  /** Accepts no new work, finishes calls in flight, and closes everything, also if a part fails. */
  stop(): Promise<void>;
}

/**
 * Listens at once, so that a port that is taken is reported at once, and answers calls when the engines are ready.
 *
 * @param opening the engines; if it rejects, the server is closed
 * @throws ConfigError if a setting cannot be used
 */
export async function startApp(
  config: Config,
  log: Log,
  opening: Promise<Engines>,
  { lag = createEventLoopLag(), metrics, redis: redisTimes, heartbeatMs, ...times }: AppOptions = {},
): Promise<App> {
  const { drainMs, ...storeTimes } = { ...appTimes, ...times };
  /** Known when the keys can be read. */
  let access: Access | undefined;
  let healthAndReflection: RequestHandler | undefined;
  /** Known when the engines are ready. */
  let protocols: Protocols | undefined;
  /** Settles when everything is closed. */
  let stopped: Promise<void> | undefined;
  const readiness = createReadiness();
  /** Closed after the last answer, or if the start fails: the last one first, and all of them even if one throws. */
  const open = new AsyncDisposableStack();
  open.use(lag);
  const showAddress = createAddressShower(config.logAddresses);
  const meter = metrics?.meter;
  const degraded = createDegraded();
  const beginWork = createTimeSlicer();
  const writeLine = createCallLine(log, showAddress, "info", meter);
  const addressOf = (request: RequestContext) => access?.addressOf(request) ?? request.address;
  const bodies = createBodyBudget({
    addressOf,
    // In other modes a caller has few batches and reviews under way. An inflated mebibyte becomes up to 22 MB of objects.
    ...(config.access === "open" && {
      maxBytes: 8 * 1024 * 1024,
      maxBytesPerAddress: Number.POSITIVE_INFINITY,
    }),
  });
  let redis: Redis | undefined;
  const probes = createProbes({ ...readiness, degraded: degraded.names });
  metrics?.serveProbes?.(probes);
  const besidesPage = config.page === "on";
  const origins = config.corsOrigins ?? (config.access === "public" ? ["*"] : []);
  const connections = connectionLimits(config);
  const plans = () => access?.plans ?? [];
  const listener = createListener({
    handlers: [
      // These authenticate by themselves, and refuse in their own protocol.
      (req, res) => protocols?.json(req, res) ?? false,
      probes,
      (req, res) => healthAndReflection?.(req, res) ?? false,
      (req, res) => protocols?.rpc(req, res) ?? false,
      (req, res) => protocols?.mcp(req, res) ?? false,
      (req, res) => access !== undefined && checkCredential(access, req, res),
      ...(besidesPage ? [createWebPage()] : []),
      createWelcome(besidesPage),
      createProblemPages(),
      createApiPages({
        plans: () => access && shownPlans(access.plans),
        tools: agentsTools,
      }),
      (req, res) => protocols === undefined && refuse(notServing(stopped !== undefined), req, res),
      refuseUnknown,
    ],
    isProbe: (path) => probePaths.has(path),
    ...connections,
    // A caller may have as many calls under way as its plan allows.
    callsPerCaller: () =>
      Math.max(connections.connectionsPerAddress, ...plans().map(({ limits }) => limits.concurrent ?? 0)),
    refuse,
    isRpcPath,
    beginSpan: createBeginSpan(tracedPaths),
    logRefused: createRefusalLog(writeLine, addressOf),
    cors: createCors(origins),
    unreadHeaders: corsOfUnparsed(origins),
    log,
  });
  try {
    const { host, port } = await listener.listen(config.host, config.port).catch((error) => {
      throw new ConfigError(
        `KIBITZ_HOST and KIBITZ_PORT: cannot listen on ${config.host}:${config.port} (${error.message}).${wayOut(error)}`,
      );
    });
    const connected = await connectRedis(config, log, { times: redisTimes, degraded, meter });
    redis = connected && open.use(connected);
    const node = redis && open.use((await import("./nodes.ts")).joinOthers(redis, redisTimes));
    const sharing = redis && node && { redis, nodes: () => node.count };
    const opened = open.use(await openAccess(config, log, storeTimes, { sharing, degraded }));
    healthAndReflection = createHealthAndReflection(
      { ...readiness, addressOf: opened.addressOf },
      bodies,
      log,
      meter,
    );
    access = opened;
    const engines = await opening;
    const store = openStore(config, log, degraded);
    if (store) {
      open.use(store);
    }
    open.use(engines);
    const shared = redis && node && (await shareAnswers(redis, config, node.id, redisTimes));
    const service = createService(engines, opened, config, log, {
      store,
      shared,
      writeLine,
      meter,
      beginWork,
    });
    node?.present(service, config, port);
    if (metrics) {
      watchService(metrics, service, engines, opened, degraded);
    }
    const { defaultBuild } = engines.catalog.latest;
    const follow = () => readiness.become(engines.available(defaultBuild) ? "ready" : "starting");
    protocols = createProtocols(service, {
      access: opened,
      lag,
      bodies,
      config,
      heartbeatMs,
      writeLine,
      log,
    });
    engines.changes.on("change", follow);
    follow();
    const drain = async () => {
      protocols = undefined;
      engines.changes.off("change", follow);
      readiness.become("draining");
      // Repeated, because searches that waited until now begin when others end.
      let cutting: NodeJS.Timeout | undefined;
      const late = setTimeout(() => {
        engines.cutShort();
        cutting = setInterval(() => engines.cutShort(), 100);
      }, drainMs);
      try {
        await listener.stop(drainMs + answerMaxMs);
      } finally {
        clearTimeout(late);
        clearInterval(cutting);
        await open.disposeAsync();
      }
    };
    return {
      degraded: degraded.names,
      url: `http://${host.includes(":") ? `[${host}]` : host}:${port}`,
      stop: () => {
        stopped ??= drain();
        return stopped;
      },
    };
  } catch (error) {
    await listener.stop(0);
    await opening.then((engines) => engines[Symbol.asyncDispose]()).catch(() => {});
    await open.disposeAsync();
    throw error;
  }
}

/** The way out if an address cannot be listened on. */
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

/** The reason why no call is answered before the engines are ready and after the stop has begun. */
function notServing(isStopping: boolean): KibitzError {
  return isStopping
    ? new KibitzError("shutting_down", "This server is stopping and accepts no new work.", {
        retryAfterMs: 5000,
      })
    : new KibitzError("starting", "The engine is being started.", { retryAfterMs: 1000 });
}

/** The ways to call the service. Each takes its own requests, and returns false for others. */
interface Protocols {
  readonly json: RequestHandler;
  /** gRPC, gRPC-Web and Connect. */
  readonly rpc: RequestHandler;
  readonly mcp: RequestHandler;
}

interface ProtocolsOptions extends Pick<AgentsOptions, "bodies" | "config" | "writeLine" | "log"> {
  readonly access: Access;
  readonly lag: EventLoopLag;
  readonly heartbeatMs: number | undefined;
}

/** All protocols, in front of the same handlers. */
function createProtocols(
  service: Service,
  { access, lag, bodies, config, heartbeatMs, writeLine, log }: ProtocolsOptions,
): Protocols {
  const { rules, preflight, beginWork, calls } = service;
  const admitCall = createAdmitCall(access, lag.isLasting);
  const admit = (req: NodeRequest, method: DescMethod | undefined) =>
    admitCall(contextOf(req), outcomeOf(req), method === undefined ? "call" : kindOfCall(method));
  const gateway = createGateway({
    services: apiServices,
    admit,
    calls,
    faultsOf: rules,
    preflight: preflight.message,
    beginWork,
    bodies,
    log,
    ...(heartbeatMs !== undefined && { heartbeatMs }),
  });
  const admittance = createAdmittance(admitCall, access.limits);
  const connect = createConnectAdapter({
    handlers: createHandlers({
      services: apiServices,
      calls,
      bodies,
      admittance,
    }),
    refusing: admittance.refusing,
    checkMessage: createMessageCheck(beginWork, access.limits),
    bodies,
  });
  /** Rejects a call of an unknown method as Connect's handlers reject a bad call of a known method. */
  const rejectUnknown = async (req: NodeRequest, res: NodeResponse) => {
    const error = unknownMethod(req);
    try {
      await admittance.refusing(req, undefined, error);
      return refuse(error, req, res);
    } catch (thrown) {
      return refuse(errorFromUnknown(thrown), req, res);
    }
  };
  const rpc: RequestHandler = (req, res) =>
    connect(req, res) || (isApiPath(contextOf(req).path) && rejectUnknown(req, res));
  const mcp = createAgentsEndpoint({ service, admitCall, bodies, config, writeLine, log });
  return { json: gateway, rpc, mcp };
}

/**
 * Health and reflection. They need no account: a monitor with a revoked key must still see that the server lives. They are not
 * counted, and their log lines have the level `debug`, because load balancers ask every second.
 */
function createHealthAndReflection(
  state: Parameters<typeof createToolImplementations>[0],
  bodies: BodyBudget,
  log: Log,
  meter: ServiceMetrics["meter"] | undefined,
): ConnectAdapter {
  const implementations = createToolImplementations(state);
  const write = createCallLine(log, () => undefined, "debug", meter);
  const calls = createCalls(implementations, [withLog(write)]);
  const services = implementations.map(({ service }) => service);
  return createConnectAdapter({ handlers: createHandlers({ services, calls, bodies }), bodies });
}

/** True for a path below that of a service that counts its calls. */
function isApiPath(path: string): boolean {
  return apiServices.some(({ typeName }) => path.startsWith(`/${typeName}/`));
}

/** Whether a path is below that of a service, also if the service has no such method. */
function isRpcPath(path: string): boolean {
  // Their names have dots, which the paths of the JSON calls have not: those need no look-up.
  return path.includes(".") && serviceNames.has(path.slice(1, path.lastIndexOf("/")));
}
