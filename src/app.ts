import { createContextValues, type Interceptor } from "@connectrpc/connect";
import type { Access } from "./access/access.ts";
import { type Caller, callerFromRequest } from "./caller.ts";
import { type Config, ConfigError } from "./config.ts";
import { createService, type Service } from "./create-service.ts";
import type { EngineRoom } from "./engine/room.ts";
import { KibitzError } from "./errors/errors.ts";
import { createGateway } from "./gateway/gateway.ts";
import { createCallLine } from "./log/call-line.ts";
import type { Log } from "./log/log.ts";
import { createAddressShower } from "./log/show-address.ts";
import { openAccess } from "./open-access.ts";
import type { Implementation } from "./rpc/calls.ts";
import { createToolChain } from "./rpc/chain.ts";
import { connectErrorFrom } from "./rpc/connect-error.ts";
import { callerKey } from "./rpc/context-keys.ts";
import { connectDoors } from "./rpc/interceptors/connect-doors.ts";
import { suggest } from "./rpc/interceptors/suggest.ts";
import { readMaxBytesOf } from "./rpc/read-max-bytes.ts";
import { createHandlers, createToolImplementations } from "./rpc/routes.ts";
import { type BodyBudget, createBodyBudget } from "./server/body-budget.ts";
import { createCors } from "./server/listener/cors.ts";
import { createListener } from "./server/listener/listener.ts";
import type { RequestHandler } from "./server/node-message.ts";
import { createApiPages } from "./server/pages/api-pages.ts";
import { createProbes } from "./server/pages/probes.ts";
import { createProblemPages } from "./server/pages/problem-pages.ts";
import { createReadiness } from "./server/readiness.ts";
import { createRefusalLog } from "./server/refusal-log.ts";
import { refuseUnknownCall } from "./server/rpc-door/refuse-unknown-call.ts";
import { createRpcDoor } from "./server/rpc-door/rpc-door.ts";
import { sendProblem } from "./server/send-problem.ts";
import { shownPlans } from "./shown-plans.ts";

/** How long a stop waits for what is under way before it cuts the searches short. */
const drainMaxMs = 15_000;

/** How long after that the answers may take to be out, those too that had to wait for an engine. */
const answerMaxMs = 5000;

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
  opening: Promise<EngineRoom>,
  drainMs = drainMaxMs,
): Promise<App> {
  /** What answers calls; until the engines are there, a refusal. */
  let doors: readonly RequestHandler[] = [refuseAll("starting", "The engine is being started.", 1000)];
  /** What answers calls of health and reflection, which need no engines. */
  let toolDoor: RequestHandler = () => false;
  const readiness = createReadiness();
  const bodies = createBodyBudget();
  const refuseWhenDraining = refuseAll(
    "shutting_down",
    "This server is stopping and accepts no new work.",
    5000,
  );
  let access: (Access & AsyncDisposable) | undefined;
  const showAddress = createAddressShower(config.logAddresses);
  const addressOf = (caller: Caller) => access?.addressOf(caller) ?? caller.address;
  const listener = createListener({
    handlers: [
      createProbes(readiness),
      createProblemPages(),
      createApiPages({ plans: () => access && shownPlans(access.plans), log }),
      (request, response) => toolDoor(request, response),
      (request, response) => readiness.draining() && refuseWhenDraining(request, response),
      (request, response) => doors.some((door) => door(request, response)),
    ],
    tellRefused: createRefusalLog(createCallLine(log, showAddress), addressOf),
    cors: createCors(config.corsOrigins ?? (config.access === "keys" ? [] : ["*"])),
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
    toolDoor = createRpc(createToolImplementations(readiness), createToolChain(opened, log), bodies, log);
    const engines = await opening;
    doors = createDoors(createService(engines, opened, config, log, showAddress), bodies, log);
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

/** Every way to call the service, in front of one chain of interceptors. */
function createDoors(
  { implementations, chain, rules, judge, callOf, streamOf }: Service,
  bodies: BodyBudget,
  log: Log,
): readonly RequestHandler[] {
  const gateway = createGateway({
    services: implementations.map(({ service }) => service),
    callOf,
    streamOf,
    faultsOf: rules,
    judge: judge.message,
    readMaxBytesOf,
    bodies,
    log,
  });
  return [
    gateway,
    createRpc(implementations, [suggest(judge), ...chain], bodies, log),
    (request, response) => refuseUnknownCall(request, response, false, connectErrorFrom),
  ];
}

function createRpc(
  implementations: readonly Implementation[],
  chain: readonly Interceptor[],
  bodies: BodyBudget,
  log: Log,
): RequestHandler {
  return createRpcDoor({
    handlers: createHandlers(implementations, [connectDoors(), ...chain], readMaxBytesOf),
    contextValues: (request, door) => createContextValues().set(callerKey, callerFromRequest(request, door)),
    explain: connectErrorFrom,
    bodies,
    log,
  });
}

function refuseAll(code: "starting" | "shutting_down", detail: string, retryAfterMs: number): RequestHandler {
  return (request, response) => {
    const { requestId } = callerFromRequest(request, "json");
    sendProblem(request, response, new KibitzError(code, detail, { retryAfterMs }), requestId);
    return true;
  };
}
