import type { DescMethod } from "@bufbuild/protobuf";
import type { Access } from "../access/access.ts";
import { createAdmitCall } from "../access/admit-call.ts";
import { withLog } from "../calls/middleware.ts";
import { kindOfCall } from "../calls/policy.ts";
import { createCalls } from "../calls/register.ts";
import type { Engines } from "../engine/engines.ts";
import { assertMayFollow, errorFromUnknown } from "../errors/errors.ts";
import { type BodyBudget, createBodyBudget } from "../http/body-budget.ts";
import { createCors } from "../http/listener/cors.ts";
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
import { type AppState, appTransitions, notServing, type Opened } from "./app-state.ts";
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
import { wayOut } from "./way-out.ts";

/** What an app waits for, in milliseconds. */
export const appTimes = {
  ...accessTimes,
  /** A stop, for what is under way, before it cuts the searches short. */
  drainMs: 15_000,
} as const;

/** As {@link appTimes}; tests make them short. */
export type AppTimes = { readonly [Time in keyof typeof appTimes]: number };

/** What is not for all that start an app, and what tests set otherwise. */
export interface AppOptions extends Partial<AppTimes> {
  /** What happens is counted there. */
  readonly metrics?: ServiceMetrics | undefined;
  /** Tells when calls are refused because the thread is too busy to read them. Ended with the app. */
  readonly lag?: EventLoopLag;
  readonly redis?: Partial<SharingTimes>;
  /** See `AnswerOptions`. */
  readonly heartbeatMs?: number | undefined;
}

/** How long after that the answers may take to be out, those too that had to wait for an engine. */
const answerMaxMs = 5000;

/** The one RPC that load balancers probe with. */
const healthCheckPath = "/grpc.health.v1.Health/Check";

/** Probes do not count as calls: they are answered however many calls are under way. */
const probePaths: ReadonlySet<string> = new Set(["/healthz", "/readyz", healthCheckPath]);

/** A server that answers. */
export interface App {
  /** Where it listens: `http://127.0.0.1:8080`. */
  readonly url: string;
  /** The parts that it does without what they should have: `store`. */
  degraded(): readonly string[];
  /** No new work, what is under way is finished, engines are closed. */
  stop(): Promise<void>;
}

/**
 * Listens at once, so that a port that is taken is told at once, and answers when the engines are there.
 *
 * @param opening the engines being started; rejected, it ends the server.
 */
export async function startApp(
  config: Config,
  log: Log,
  opening: Promise<Engines>,
  { lag = createEventLoopLag(), metrics, redis: redisTimes, heartbeatMs, ...times }: AppOptions = {},
): Promise<App> {
  const { drainMs, ...storeTimes } = { ...appTimes, ...times };
  let state: AppState = { kind: "opening" };
  const move = (next: AppState) => {
    assertMayFollow(appTransitions, state.kind, next.kind);
    state = next;
  };
  const opened = (): Partial<Opened> => ("access" in state ? state : {});
  const readiness = createReadiness();
  /** What is closed when everything is answered, or nothing can be. */
  const open = new AsyncDisposableStack();
  open.use(lag);
  const showAddress = createAddressShower(config.logAddresses);
  const meter = metrics?.meter;
  const degraded = createDegraded();
  const beginWork = createTimeSlicer();
  const writeLine = createCallLine(log, showAddress, "info", meter);
  const addressOf = (request: RequestContext) => opened().access?.addressOf(request) ?? request.address;
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
  const tools: RequestHandler = (req, res) => opened().tools?.(req, res) ?? false;
  const besidesPage = config.page === "on";
  const door =
    (index: number): RequestHandler =>
    (req, res) =>
      state.kind === "serving" && (state.doors[index]?.(req, res) ?? false);
  const connections = connectionLimits(config);
  const plans = () => opened().access?.plans ?? [];
  const listener = createListener({
    handlers: [
      // These look at credentials themselves, and refuse in their protocol.
      door(jsonDoor),
      probes,
      tools,
      door(rpcDoor),
      door(agentsDoor),
      (req, res) => "access" in state && checkCredential(state.access, req, res),
      ...(besidesPage ? [createWebPage()] : []),
      createWelcome(besidesPage),
      createProblemPages(),
      createApiPages({
        plans: () => ("access" in state ? shownPlans(state.access.plans) : undefined),
        tools: agentsTools,
      }),
      (req, res) => state.kind !== "serving" && refuse(notServing(state.kind), req, res),
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
    cors: createCors(config.corsOrigins ?? (config.access === "public" ? ["*"] : [])),
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
    const access = open.use(await openAccess(config, log, storeTimes, { sharing, degraded }));
    const toolCalls = createTools({ ...readiness, addressOf: access.addressOf }, bodies, log, meter);
    move({ kind: "starting", access, tools: toolCalls });
    const engines = await opening;
    const store = openStore(config, log, degraded);
    if (store) {
      open.use(store);
    }
    const shared = redis && node && (await shareAnswers(redis, config, node.id, redisTimes));
    const service = createService(engines, access, config, log, {
      store,
      shared,
      writeLine,
      meter,
      beginWork,
    });
    node?.present(service, config, port);
    if (metrics) {
      watchService(metrics, service, engines, access, degraded);
    }
    const { defaultBuild } = engines.catalog.latest;
    const follow = () => readiness.become(engines.available(defaultBuild) ? "ready" : "starting");
    move({
      kind: "serving",
      access,
      tools: toolCalls,
      doors: createDoors(service, {
        access,
        lag,
        bodies,
        config,
        heartbeatMs,
        writeLine,
        log,
      }),
    });
    engines.changes.on("change", follow);
    follow();
    const drain = async () => {
      engines.changes.off("change", follow);
      readiness.become("draining");
      // Again and again: what has waited until now begins when others end.
      let cutting: NodeJS.Timeout | undefined;
      const late = setTimeout(() => {
        engines.cutShort();
        cutting = setInterval(() => engines.cutShort(), 100);
      }, drainMs);
      await listener.stop(drainMs + answerMaxMs);
      clearTimeout(late);
      clearInterval(cutting);
      await engines[Symbol.asyncDispose]();
      await open.disposeAsync();
      move({ kind: "stopped" });
    };
    return {
      degraded: degraded.names,
      url: `http://${host.includes(":") ? `[${host}]` : host}:${port}`,
      async stop() {
        if (state.kind === "serving") {
          move({ kind: "draining", access, tools: toolCalls, ended: drain() });
        }
        await ("ended" in state ? state.ended : undefined);
      },
    };
  } catch (error) {
    await listener.stop(0);
    await opening.then((engines) => engines[Symbol.asyncDispose]()).catch(() => {});
    await open.disposeAsync();
    move({ kind: "stopped" });
    throw error;
  }
}

/** Places of the ways to call the service. */
const jsonDoor = 0;
const rpcDoor = 1;
const agentsDoor = 2;

interface DoorsOptions extends Pick<AgentsOptions, "bodies" | "config" | "writeLine" | "log"> {
  readonly access: Access;
  readonly lag: EventLoopLag;
  readonly heartbeatMs: number | undefined;
}

/** Every way to call the service, in front of the same handlers. */
function createDoors(
  service: Service,
  { access, lag, bodies, config, heartbeatMs, writeLine, log }: DoorsOptions,
): readonly RequestHandler[] {
  const { rules, judge, beginWork, calls } = service;
  const admitCall = createAdmitCall(access, lag.isLasting);
  const admit = (req: NodeRequest, method: DescMethod | undefined) =>
    admitCall(contextOf(req), outcomeOf(req), method === undefined ? "call" : kindOfCall(method));
  const gateway = createGateway({
    services: apiServices,
    admit,
    calls,
    faultsOf: rules,
    judge: judge.message,
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
  return [gateway, rpc, createAgentsEndpoint({ service, admitCall, bodies, config, writeLine, log })];
}

/**
 * Health and reflection. They need no account: a monitor must see that the server lives also with a revoked key. Nothing is counted, and
 * as load balancers ask every second, their lines are at the level `debug`.
 */
function createTools(
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
