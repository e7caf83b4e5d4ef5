import type { Interceptor } from "@connectrpc/connect";
import type { Access } from "../access/access.ts";
import { createClientAddress } from "../access/client-address.ts";
import { createEntrance } from "../access/entrance.ts";
import { createToolChain } from "../calls/chain.ts";
import type { Implementation } from "../calls/invoke.ts";
import { batchMethods, isCounted, readMaxBytesOf } from "../calls/policy.ts";
import type { Engines } from "../engine/engines.ts";
import { errorFromUnknown, KibitzError } from "../errors/errors.ts";
import { type BodyBudget, createBodyBudget } from "../http/body-budget.ts";
import { createCors } from "../http/listener/cors.ts";
import { createListener, type ListenerOptions } from "../http/listener/listener.ts";
import type { NodeRequest, NodeResponse, RequestHandler } from "../http/message.ts";
import { createApiPages } from "../http/pages/docs.ts";
import { createProbes, createReadiness } from "../http/pages/probes.ts";
import { createProblemPages } from "../http/pages/problems.ts";
import { createWelcome } from "../http/pages/welcome.ts";
import { sendProblem } from "../http/send-problem.ts";
import { createCallLine, createRefusalLog } from "../log/call-line.ts";
import type { Log } from "../log/log.ts";
import { createAddressShower } from "../log/show-address.ts";
import { createConnectAdapter } from "../protocols/connect/adapter.ts";
import { createBatchDecoder, type DecodeBody } from "../protocols/connect/decode-batch.ts";
import { connectErrorFrom, errorFromConnect } from "../protocols/connect/errors.ts";
import { type Admittance, createHandlers } from "../protocols/connect/handlers.ts";
import { connectErrors, createAdmittance, suggest } from "../protocols/connect/interceptors.ts";
import { refuseCall, refuseUnknownCall } from "../protocols/connect/refuse-call.ts";
import { createGateway } from "../protocols/json/gateway.ts";
import { contextOf, type RequestContext } from "../request/context.ts";
import { outcomeOf } from "../request/outcome.ts";
import { costOf } from "../services/admission.ts";
import { createToolImplementations, serviceNames } from "../services/routes.ts";
import { createEventLoopLag, type EventLoopLag } from "../thread/event-loop-lag.ts";
import { openAccess } from "./access.ts";
import { type Config, ConfigError } from "./config.ts";
import { shownPlans } from "./plans.ts";
import { createService, type Service } from "./service.ts";

/** How long a stop waits for what is under way before it cuts the searches short. */
const drainMaxMs = 15_000;

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
 * @param opening the engine room being opened; rejected, it ends the server.
 * @param drainMs how long a stop waits for what is under way before it cuts the searches short.
 */
export async function startApp(
  config: Config,
  log: Log,
  opening: Promise<Engines>,
  drainMs = drainMaxMs,
): Promise<App> {
  /** What answers calls, when the engines are there. */
  let doors: readonly RequestHandler[] = [];
  /** What answers calls of health and reflection, which need no engines. */
  let toolDoor: RequestHandler = () => false;
  const readiness = createReadiness();
  const lag = createEventLoopLag();
  let access: (Access & AsyncDisposable) | undefined;
  const showAddress = createAddressShower(config.logAddresses);
  const addressOf = (request: RequestContext) => access?.addressOf(request) ?? request.address;
  const bodies = createBodyBudget({
    addressOf,
    ...(config.access === "open" && { maxBytesPerAddress: Number.POSITIVE_INFINITY }),
  });
  const door =
    (index: number): RequestHandler =>
    (request, response) =>
      !readiness.draining() && (doors[index]?.(request, response) ?? false);
  const listener = createListener({
    handlers: [
      createProbes(readiness),
      (request, response) => toolDoor(request, response),
      // These look at credentials themselves, and refuse in their protocol.
      door(jsonDoor),
      door(rpcDoor),
      (request, response) => access !== undefined && checkCredential(access, request, response),
      createWelcome(),
      createProblemPages(),
      createApiPages({ plans: () => access && shownPlans(access.plans), log }),
      (request, response) => readiness.draining() && refuse(shuttingDown(), request, response),
      (request, response) => doors.length === 0 && refuse(starting(), request, response),
      refuseUnknown,
    ],
    spareHandlers: [
      createProbes(readiness),
      createWelcome(),
      (request, response) => contextOf(request).path === healthCheckPath && toolDoor(request, response),
      (request, response) => refuse(noConnectionLeft(), request, response),
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
    const opened = await openAccess(config, log);
    access = opened;
    const tools = createToolImplementations({ ...readiness, addressOf: opened.addressOf });
    toolDoor = createRpc({
      implementations: tools,
      chain: createToolChain(log, errorFromConnect),
      bodies,
      log,
    });
    const engines = await opening;
    const service = createService(engines, opened, config, log, showAddress);
    doors = createDoors(service, opened, lag, bodies, log);
    const { defaultBuild } = engines.catalog.latest;
    const follow = () => readiness.become(engines.available(defaultBuild) ? "ready" : "starting");
    engines.changes.on("change", follow);
    follow();
    return {
      url: `http://${host.includes(":") ? `[${host}]` : host}:${port}`,
      async stop() {
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
        await opened[Symbol.asyncDispose]();
        lag[Symbol.dispose]();
      },
    };
  } catch (error) {
    await listener.stop(0);
    await opening.then((engines) => engines[Symbol.asyncDispose]()).catch(() => {});
    await access?.[Symbol.asyncDispose]();
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
  const gateway = createGateway({
    services: implementations.map(({ service }) => service),
    enter: (req, method) =>
      entrance.enter(contextOf(req), outcomeOf(req), method !== undefined && isCounted(method)),
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
  const connectChain = [suggest(judge.message), ...chain];
  return [gateway, createRpc({ implementations, chain: connectChain, admittance, decodeBody, bodies, log })];
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
}: RpcOptions): RequestHandler {
  return createConnectAdapter({
    handlers: createHandlers(implementations, [connectErrors(), ...chain], readMaxBytesOf, admittance),
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

function starting(): KibitzError {
  return new KibitzError("starting", "The engine is being started.", { retryAfterMs: 1000 });
}

function noConnectionLeft(): KibitzError {
  const detail = "This server, or your address, has no connection left. Come again later.";
  return new KibitzError("overloaded", detail, { retryAfterMs: 1000 });
}

function shuttingDown(): KibitzError {
  const detail = "This server is stopping and accepts no new work.";
  return new KibitzError("shutting_down", detail, { retryAfterMs: 5000 });
}

/** Nobody's address: what a proxy is made to forward, to see whether it is believed. */
const nobody = "0.0.0.0";

/** Trusted proxies come for many, and in `open` mode nobody is limited. */
function connectionLimits(config: Config): Pick<ListenerOptions, "addressOf" | "connectionsPerAddress"> {
  const clientAddress = createClientAddress(config.trustProxy, { warn() {} });
  const isProxy = (address: string) => clientAddress({ address, forwardedFor: nobody }) === nobody;
  const isLimited = config.access !== "open" && config.connectionsPerAddress > 0;
  return {
    connectionsPerAddress: isLimited ? config.connectionsPerAddress : Number.POSITIVE_INFINITY,
    addressOf: (address) =>
      config.trustProxy.length > 0 && isProxy(address)
        ? undefined
        : clientAddress({ address, forwardedFor: undefined }),
  };
}
