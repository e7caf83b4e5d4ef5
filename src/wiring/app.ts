import type { DescMethod } from "@bufbuild/protobuf";
import type { Interceptor } from "@connectrpc/connect";
import type { Access } from "../access/access.ts";
import { createEntrance } from "../access/entrance.ts";
import { createToolChain } from "../calls/chain.ts";
import { createCalls, type Implementation } from "../calls/invoke.ts";
import { batchMethods, isCounted, readMaxBytesOf } from "../calls/policy.ts";
import type { Engines } from "../engine/engines.ts";
import { assertMayFollow, errorFromUnknown, KibitzError } from "../errors/errors.ts";
import { type BodyBudget, createBodyBudget } from "../http/body-budget.ts";
import { createCors } from "../http/listener/cors.ts";
import { createListener } from "../http/listener/listener.ts";
import type { NodeRequest, NodeResponse, RequestHandler } from "../http/message.ts";
import { createApiPages } from "../http/pages/docs.ts";
import { createProbes, createReadiness } from "../http/pages/probes.ts";
import { createProblemPages } from "../http/pages/problems.ts";
import { createWelcome } from "../http/pages/welcome.ts";
import { sendProblem } from "../http/send-problem.ts";
import { createAddressShower, createCallLine, createRefusalLog } from "../log/call-line.ts";
import type { Log } from "../log/log.ts";
import { type ConnectAdapter, createConnectAdapter } from "../protocols/connect/adapter.ts";
import { createBatchDecoder, type DecodeBody } from "../protocols/connect/decode-batch.ts";
import { connectErrorFrom, errorFromConnect } from "../protocols/connect/errors.ts";
import { createGrpcDoor } from "../protocols/connect/grpc/door.ts";
import { type Admittance, createHandlers } from "../protocols/connect/handlers.ts";
import { connectErrors, createAdmittance, suggest } from "../protocols/connect/interceptors.ts";
import { refuseCall, refuseUnknownCall } from "../protocols/connect/refuse-call.ts";
import { createGateway } from "../protocols/json/gateway.ts";
import { contextOf, outcomeOf, type RequestContext } from "../request/context.ts";
import { costOf } from "../services/admission.ts";
import { createToolImplementations, serviceNames } from "../services/routes.ts";
import { createEventLoopLag, type EventLoopLag } from "../thread/event-loop.ts";
import { accessTimes, connectionLimits, openAccess } from "./access.ts";
import { type AppState, appTransitions, notServing, type Opened } from "./app-state.ts";
import { type Config, ConfigError } from "./config.ts";
import { shownPlans } from "./plans.ts";
import { createService, type Service } from "./service.ts";

/** What an app waits for, in milliseconds. */
export const appTimes = {
  ...accessTimes,
  /** A stop, for what is under way, before it cuts the searches short. */
  drainMs: 15_000,
} as const;

/** As {@link appTimes}; tests make them short. */
export type AppTimes = { readonly [Time in keyof typeof appTimes]: number };

/** What tests may set otherwise. */
export interface AppOptions extends Partial<AppTimes> {
  /** Tells when calls are refused because the thread is too busy to read them. Ended with the app. */
  readonly lag?: EventLoopLag;
}

/** How long after that the answers may take to be out, those too that had to wait for an engine. */
const answerMaxMs = 5000;

/** The one RPC that load balancers probe with. */
const healthCheckPath = "/grpc.health.v1.Health/Check";

/** A server that answers. */
export interface App {
  /** Where it listens: `http://127.0.0.1:8080`. */
  readonly url: string;
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
  { lag = createEventLoopLag(), ...times }: AppOptions = {},
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
  const addressOf = (request: RequestContext) => opened().access?.addressOf(request) ?? request.address;
  const bodies = createBodyBudget({
    addressOf,
    ...(config.access === "open" && { maxBytesPerAddress: Number.POSITIVE_INFINITY }),
  });
  const tools: RequestHandler = (req, res) => opened().tools?.(req, res) ?? false;
  const door =
    (index: number): RequestHandler =>
    (req, res) =>
      state.kind === "serving" && (state.doors[index]?.(req, res) ?? false);
  const listener = createListener({
    handlers: [
      // These look at credentials themselves, and refuse in their protocol.
      door(jsonDoor),
      createProbes(readiness),
      tools,
      door(rpcDoor),
      (req, res) => "access" in state && checkCredential(state.access, req, res),
      createWelcome(),
      createProblemPages(),
      createApiPages({ plans: () => ("access" in state ? shownPlans(state.access.plans) : undefined), log }),
      (req, res) => state.kind !== "serving" && refuse(notServing(state.kind), req, res),
      refuseUnknown,
    ],
    spareHandlers: [
      createProbes(readiness),
      createWelcome(),
      (req, res) => contextOf(req).path === healthCheckPath && tools(req, res),
      (req, res) => refuse(noConnectionLeft(), req, res),
    ],
    ...connectionLimits(config),
    isRpcPath,
    tellRefused: createRefusalLog(createCallLine(log, showAddress), addressOf),
    cors: createCors(config.corsOrigins ?? (config.access === "public" ? ["*"] : [])),
    log,
  });
  try {
    const { host, port } = await listener.listen(config.host, config.port).catch((error) => {
      throw new ConfigError(
        `KIBITZ_HOST and KIBITZ_PORT: cannot listen on ${config.host}:${config.port} (${error.message}).${wayOut(error)}`,
      );
    });
    const access = open.use(await openAccess(config, log, storeTimes));
    const toolCalls = createRpc({
      implementations: createToolImplementations({ ...readiness, addressOf: access.addressOf }),
      chain: [connectErrors(), ...createToolChain(log, errorFromConnect)],
      bodies,
      log,
    });
    move({ kind: "starting", access, tools: toolCalls });
    const engines = await opening;
    const service = createService(engines, access, config, log, showAddress);
    const { defaultBuild } = engines.catalog.latest;
    const follow = () => readiness.become(engines.available(defaultBuild) ? "ready" : "starting");
    move({
      kind: "serving",
      access,
      tools: toolCalls,
      doors: createDoors(service, access, lag, bodies, log),
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

/** What the operator can do about an address that cannot be listened on. */
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

/** Places of the ways to call the service. */
const jsonDoor = 0;
const rpcDoor = 1;

/** Every way to call the service, in front of one chain of interceptors. */
function createDoors(
  { implementations, chain, rules, judge, beginWork, calls }: Service,
  access: Access,
  lag: EventLoopLag,
  bodies: BodyBudget,
  log: Log,
): readonly RequestHandler[] {
  const entrance = createEntrance(access, lag.isLasting);
  const services = implementations.map(({ service }) => service);
  const enter = (req: NodeRequest, method: DescMethod | undefined) =>
    entrance.enter(contextOf(req), outcomeOf(req), method !== undefined && isCounted(method));
  const gateway = createGateway({
    services,
    enter,
    calls,
    faultsOf: rules,
    judge: judge.message,
    costOf,
    beginWork,
    readMaxBytesOf,
    bodies,
    log,
  });
  const admittance = createAdmittance(entrance, access.limits);
  const { limits } = access;
  const decodeBody = createBatchDecoder({ methods: batchMethods, readMaxBytesOf, beginWork, limits });
  const rpcChain = [connectErrors(), suggest(judge.message), ...chain];
  const grpc = createGrpcDoor({
    services,
    enter,
    calls: createCalls(implementations, rpcChain),
    isShort: (method) => !batchMethods.includes(method),
    readMaxBytesOf,
    bodies,
    connect: createRpc({ implementations, chain: rpcChain, admittance, decodeBody, bodies, log }),
    log,
  });
  return [gateway, grpc];
}

interface RpcOptions {
  readonly implementations: readonly Implementation[];
  readonly chain: readonly Interceptor[];
  /** Everybody is let in without. */
  readonly admittance?: Admittance;
  readonly decodeBody?: DecodeBody;
  readonly bodies: BodyBudget;
  readonly log: Log;
}

function createRpc({
  implementations,
  chain,
  admittance,
  decodeBody,
  bodies,
  log,
}: RpcOptions): ConnectAdapter {
  return createConnectAdapter({
    handlers: createHandlers(implementations, chain, readMaxBytesOf, admittance),
    ...(admittance && { refusing: admittance.refusing }),
    explain: connectErrorFrom,
    ...(decodeBody && { decodeBody }),
    bodies,
    log,
  });
}

/** What is no call needs no key, but a credential that is sent with it is checked as everywhere. */
async function checkCredential(access: Access, req: NodeRequest, res: NodeResponse): Promise<boolean> {
  if (req.headers.authorization === undefined) {
    return false;
  }
  try {
    await access.accountOf(contextOf(req));
    return false;
  } catch (thrown) {
    return refuse(errorFromUnknown(thrown), req, res);
  }
}

/** Whether a path is below that of a service, also if the service has no such method. */
function isRpcPath(path: string): boolean {
  return serviceNames.has(path.slice(1, path.lastIndexOf("/")));
}

/** Answers with an error in the protocol of the caller. */
function refuse(error: KibitzError, req: NodeRequest, res: NodeResponse): true {
  if (!refuseCall(req, res, error, connectErrorFrom)) {
    sendProblem(req, res, error);
  }
  return true;
}

/** Tells RPC clients that there is no such call; the rest is nobody's. */
function refuseUnknown(req: NodeRequest, res: NodeResponse): boolean {
  return refuseUnknownCall(req, res, connectErrorFrom);
}

function noConnectionLeft(): KibitzError {
  const detail = "This server, or your address, has no connection left. Come again later.";
  return new KibitzError("overloaded", detail, { retryAfterMs: 1000 });
}
