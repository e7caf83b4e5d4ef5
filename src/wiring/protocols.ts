import { GameService } from "../../gen/chess/analysis/v1/game_service_pb.ts";
import manifest from "../../package.json" with { type: "json" };
import type { Access } from "../access/access.ts";
import { createAdmitCall } from "../access/admit-call.ts";
import { createCalls } from "../calls/create-calls.ts";
import { withReport } from "../calls/middleware.ts";
import { readMaxBytesOf } from "../calls/policy.ts";
import { createReportCall, type ReportCall } from "../calls/report-call.ts";
import { errorFromUnknown, type KibitzError } from "../errors/errors.ts";
import type { BodyBudget } from "../http/body-budget.ts";
import type { NodeRequest, NodeResponse, RequestHandler } from "../http/message.ts";
import { sendProblem } from "../http/send-problem.ts";
import { createCallLine } from "../log/call-line.ts";
import type { Log } from "../log/log.ts";
import type { Meter } from "../metrics/meter.ts";
import { createConnectAdapter } from "../protocols/connect/adapter.ts";
import { createMessageCheck } from "../protocols/connect/check-message.ts";
import { createConstantCheck } from "../protocols/connect/constant-check.ts";
import { createHandlers } from "../protocols/connect/handlers.ts";
import { refuseCall, unknownMethod } from "../protocols/connect/refuse-call.ts";
import { createRequestGate } from "../protocols/connect/request-gate.ts";
import { createGateway } from "../protocols/json/gateway.ts";
import { readJsonArray, readJsonObject } from "../protocols/json/json-text.ts";
import { readJsonText } from "../protocols/json/read-json.ts";
import { routesFromServices } from "../protocols/json/routes.ts";
import { createMcpEndpoint } from "../protocols/mcp/endpoint.ts";
import { createPlainCalls } from "../protocols/mcp/plain-calls.ts";
import { allowedHosts } from "../protocols/mcp/senders.ts";
import { contextOf, mcpPath } from "../request/context.ts";
import { apiServices, createToolImplementations } from "../services/implementations.ts";
import type { EventLoopLag } from "../thread/overload.ts";
import type { Service } from "./service.ts";
import type { Config } from "./settings.ts";

/** A handler returns false if the request belongs to another protocol. */
export interface Protocols {
  readonly json: RequestHandler;
  /** Serves gRPC, gRPC-Web and Connect. */
  readonly rpc: RequestHandler;
  readonly mcp: RequestHandler;
}

interface ProtocolsOptions {
  readonly access: Access;
  readonly lag: EventLoopLag;
  readonly bodies: BodyBudget;
  readonly config: Pick<Config, "host" | "allowedHosts" | "corsOrigins" | "trustProxy">;
  readonly heartbeatMs: number | undefined;
  readonly reportCall: ReportCall;
  readonly log: Log;
}

/** Each protocol authenticates its requests, and reports errors in its own format. */
export function createProtocols(service: Service, options: ProtocolsOptions): Protocols {
  const { validate, rulebook, beginWork, calls } = service;
  const { access, lag, bodies, config, heartbeatMs, reportCall, log } = options;
  const admitCall = createAdmitCall(access, lag.isLasting);

  const json = createGateway({
    services: apiServices,
    admitCall,
    calls,
    validate: validate.message,
    beginWork,
    bodies,
    log,
    ...(heartbeatMs !== undefined && { heartbeatMs }),
  });

  const gate = createRequestGate(admitCall, access.limits);
  const connect = createConnectAdapter({
    handlers: createHandlers({ services: apiServices, calls, bodies, gate }),
    refusing: gate.refusing,
    checkMessage: createMessageCheck(beginWork, access.limits),
    bodies,
  });
  const rejectUnknown = async (req: NodeRequest, res: NodeResponse) => {
    const error = unknownMethod(req);
    try {
      await gate.refusing(req, undefined, error);
      return refuse(error, req, res);
    } catch (thrown) {
      return refuse(errorFromUnknown(thrown), req, res);
    }
  };

  const messageMaxBytes = readMaxBytesOf(GameService.method.reviewGame);
  const mcp = createMcpEndpoint({
    plain: createPlainCalls({ calls, validate: validate.message }),
    rulebook,
    origins: config.corsOrigins ?? [],
    hosts: allowedHosts(config.host, config.allowedHosts),
    trustProxy: config.trustProxy,
    admitCall,
    readBody: async (req, admitted) => {
      const text = await readJsonText(req, admitted, messageMaxBytes, bodies);
      const wanted = "one JSON-RPC message, a JSON object";
      return text.trimStart().startsWith("[") ? readJsonArray(text, wanted) : readJsonObject(text, wanted);
    },
    version: manifest.version,
    reportCall,
    log,
  });

  return {
    json,
    rpc: (req, res) => connect(req, res) || (isApiPath(contextOf(req).path) && rejectUnknown(req, res)),
    mcp,
  };
}

/**
 * Serves health checks and reflection without authentication, so that a monitor with a revoked key still works.
 * The calls do not count in the limits of a plan. They are logged at `debug`, because load balancers send these calls every second.
 */
export function createHealthAndReflection(
  state: Parameters<typeof createToolImplementations>[0],
  bodies: BodyBudget,
  log: Log,
  meter: Meter | undefined,
): RequestHandler {
  const implementations = createToolImplementations(state);
  const reportCall = createReportCall(createCallLine(log, "none", "debug"), meter);
  const calls = createCalls(implementations, [withReport(reportCall)]);
  const services = implementations.map(({ service }) => service);
  return createConnectAdapter({ handlers: createHandlers({ services, calls, bodies }), bodies });
}

export function refuse(error: KibitzError, req: NodeRequest, res: NodeResponse): true {
  if (!refuseCall(req, res, error)) {
    sendProblem(req, res, error);
  }
  return true;
}

/** Rejects a gRPC or Connect call with an error in the format of its protocol. Returns false for other requests. */
export function refuseUnknown(req: NodeRequest, res: NodeResponse): boolean {
  return refuseCall(req, res, unknownMethod(req));
}

export async function checkCredential(access: Access, req: NodeRequest, res: NodeResponse): Promise<boolean> {
  try {
    await access.accountOf(contextOf(req));
    return false;
  } catch (thrown) {
    return refuse(errorFromUnknown(thrown), req, res);
  }
}

export async function mcpTools(): Promise<
  readonly { readonly name: string; readonly description: string }[]
> {
  const { tools } = await import("../protocols/mcp/tools.ts");
  return tools;
}

function isApiPath(path: string): boolean {
  return apiServices.some(({ typeName }) => path.startsWith(`/${typeName}/`));
}

const healthCheckPath = "/grpc.health.v1.Health/Check";

/** Answers gRPC health checks at the least cost. */
export function createCheckAnswer(ready: () => boolean): RequestHandler {
  const names = new Set(["", ...apiServices.map(({ typeName }) => typeName)]);
  return createConstantCheck({ path: healthCheckPath, names, ready });
}

export const paths = {
  calls: new Set([
    mcpPath,
    ...routesFromServices(apiServices).map(({ path }) => path),
    ...apiServices.flatMap(({ typeName, methods }) => methods.map(({ name }) => `/${typeName}/${name}`)),
  ]),
  probes: new Set(["/healthz", "/readyz", healthCheckPath]),
  tools: /^\/grpc\.(health|reflection)\./,
  /** These paths get no span, because load balancers request them every second. */
  untraced: /^\/(healthz|readyz|grpc\.(health|reflection)\.[^/]+\/[^/]+)$/,
} as const;
