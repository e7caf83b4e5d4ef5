import { createContextValues, type Interceptor } from "@connectrpc/connect";
import type { Access } from "./access/access.ts";
import { createClientAddress } from "./access/client-address.ts";
import { createEntrance } from "./access/entrance.ts";
import { type Caller, callerFromRequest } from "./caller.ts";
import { type Config, ConfigError } from "./config.ts";
import { createService, type Service } from "./create-service.ts";
import type { EngineRoom } from "./engine/room.ts";
import { errorFromUnknown, KibitzError } from "./errors/errors.ts";
import { createEventLoopLag, type EventLoopLag } from "./event-loop-lag.ts";
import { createGateway } from "./gateway/gateway.ts";
import { createCallLine } from "./log/call-line.ts";
import type { Log } from "./log/log.ts";
import { createAddressShower } from "./log/show-address.ts";
import { openAccess } from "./open-access.ts";
import { createAdmittance } from "./rpc/admittance.ts";
import type { Implementation } from "./rpc/calls.ts";
import { createToolChain } from "./rpc/chain.ts";
import { connectErrorFrom } from "./rpc/connect-error.ts";
import { callerKey } from "./rpc/context-keys.ts";
import { batchMethods, isCounted } from "./rpc/counted-calls.ts";
import { createBatchDecoder, type DecodeBody } from "./rpc/decode-batch.ts";
import { connectDoors } from "./rpc/interceptors/connect-doors.ts";
import { suggest } from "./rpc/interceptors/suggest.ts";
import { costOf } from "./rpc/judge.ts";
import { readMaxBytesOf } from "./rpc/read-max-bytes.ts";
import { type Admittance, createHandlers, createToolImplementations, serviceNames } from "./rpc/routes.ts";
import { type BodyBudget, createBodyBudget } from "./server/body-budget.ts";
import { createCors } from "./server/listener/cors.ts";
import { createListener, type ListenerOptions } from "./server/listener/listener.ts";
import { type NodeRequest, type NodeResponse, pathOf, type RequestHandler } from "./server/node-message.ts";
import { createApiPages } from "./server/pages/api-pages.ts";
import { createProbes } from "./server/pages/probes.ts";
import { createProblemPages } from "./server/pages/problem-pages.ts";
import { createWelcome } from "./server/pages/welcome.ts";
import { createReadiness } from "./server/readiness.ts";
import { createRefusalLog } from "./server/refusal-log.ts";
import { refuseCall, refuseUnknownCall } from "./server/rpc-door/refuse-call.ts";
import { createRpcDoor } from "./server/rpc-door/rpc-door.ts";
import { sendProblem } from "./server/send-problem.ts";
import { shownPlans } from "./shown-plans.ts";

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
 * @param lag tells when calls are refused because the thread is too busy to read them. Ended with the app.
 */
export async function startApp(
  config: Config,
  log: Log,
  opening: Promise<EngineRoom>,
  drainMs = drainMaxMs,
  lag: EventLoopLag = createEventLoopLag(),
): Promise<App> {
  /** What answers calls, when the engines are there. */
  let doors: readonly RequestHandler[] = [];
  /** What answers calls of health and reflection, which need no engines. */
  let toolDoor: RequestHandler = () => false;
  const readiness = createReadiness();
  let access: (Access & AsyncDisposable) | undefined;
  const showAddress = createAddressShower(config.logAddresses);
  const addressOf = (caller: Caller) => access?.addressOf(caller) ?? caller.address;
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
      (request, response) => pathOf(request) === healthCheckPath && toolDoor(request, response),
      (request, response) => refuse(noConnectionLeft(), request, response),
    ],
    ...connectionLimits(config),
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
    toolDoor = createRpc({ implementations: tools, chain: createToolChain(log), bodies, log });
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
  { implementations, chain, rules, judge, beginWork, callOf, streamOf }: Service,
  access: Access,
  lag: EventLoopLag,
  bodies: BodyBudget,
  log: Log,
): readonly RequestHandler[] {
  const entrance = createEntrance(access, lag.isLasting);
  const gateway = createGateway({
    services: implementations.map(({ service }) => service),
    enter: (caller, method) => entrance.enter(caller, method !== undefined && isCounted(method)),
    callOf,
    streamOf,
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
  const connectChain = [suggest(judge), ...chain];
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
  return createRpcDoor({
    handlers: createHandlers(implementations, [connectDoors(), ...chain], readMaxBytesOf, admittance),
    ...(admittance && { refusing: admittance.refusing }),
    contextValues: (request, door) => createContextValues().set(callerKey, callerFromRequest(request, door)),
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
    await access.accountOf(callerFromRequest(req, "json"));
    return false;
  } catch (thrown) {
    return refuse(errorFromUnknown(thrown), req, res);
  }
}

/** Whether a path is below that of a service, also if the service has no such method. */
function isOfService(req: NodeRequest): boolean {
  const path = pathOf(req);
  return serviceNames.has(path.slice(1, path.lastIndexOf("/")));
}

/** Answers with an error in the protocol of the caller. */
function refuse(error: KibitzError, req: NodeRequest, res: NodeResponse): true {
  if (!refuseCall(req, res, error, isOfService(req), connectErrorFrom)) {
    sendProblem(req, res, error, callerFromRequest(req, "json").requestId);
  }
  return true;
}

/** Tells RPC clients that there is no such call; the rest is nobody's. */
function refuseUnknown(req: NodeRequest, res: NodeResponse): boolean {
  return refuseUnknownCall(req, res, isOfService(req), connectErrorFrom);
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
