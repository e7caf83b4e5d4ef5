import { GameService } from "../../gen/chess/analysis/v1/game_service_pb.ts";
import manifest from "../../package.json" with { type: "json" };
import type { AdmitCall } from "../access/admit-call.ts";
import { createProxyTest } from "../access/client-address.ts";
import { createPlainCalls } from "../calls/plain/plain-calls.ts";
import { readMaxBytesOf } from "../calls/policy.ts";
import type { BodyBudget } from "../http/body-budget.ts";
import type { RequestHandler } from "../http/message.ts";
import type { CallLine } from "../log/call-line.ts";
import type { Log } from "../log/log.ts";
import { readJsonObject } from "../protocols/json/json-text.ts";
import { readJsonText } from "../protocols/json/read-json.ts";
import { createMcpEndpoint } from "../protocols/mcp/endpoint.ts";
import { allowedHosts } from "../protocols/mcp/senders.ts";
import { contextOf, outcomeOf } from "../request/context.ts";
import type { Service } from "./service.ts";
import type { Config } from "./settings.ts";

/** The tools, for the documents about them. They are loaded when they are first needed. */
export async function agentsTools(): Promise<
  readonly { readonly name: string; readonly description: string }[]
> {
  const { tools } = await import("../protocols/mcp/tools.ts");
  return tools;
}

export interface AgentsOptions {
  readonly service: Service;
  readonly admitCall: AdmitCall;
  readonly bodies: BodyBudget;
  readonly config: Pick<Config, "host" | "allowedHosts" | "corsOrigins" | "trustProxy">;
  readonly writeLine: CallLine;
  readonly log: Log;
}

/** The MCP endpoint, in front of the same calls as every other protocol. */
export function createAgentsEndpoint({
  service,
  admitCall,
  bodies,
  config,
  writeLine,
  log,
}: AgentsOptions): RequestHandler {
  const { calls, rules, preflight, rulebook } = service;
  // A message may be as long as a review, the longest call of a tool.
  const wanted = "one JSON-RPC message, a JSON object";
  const maxBytes = readMaxBytesOf(GameService.method.reviewGame);
  const isProxy = createProxyTest(config.trustProxy);
  return createMcpEndpoint({
    plain: createPlainCalls({ calls, faultsOf: rules, preflight: preflight.message }),
    rulebook,
    origins: config.corsOrigins ?? [],
    hosts: allowedHosts(config.host, config.allowedHosts),
    // A client that is no trusted proxy may have invented the header.
    schemeOf: (req) =>
      req.headers["x-forwarded-proto"] === "https" && isProxy(contextOf(req).address) ? "https" : "http",
    admit: (req, kind) => admitCall(contextOf(req), outcomeOf(req), kind),
    readBody: async (req, admitted) =>
      readJsonObject(await readJsonText(req, admitted, maxBytes, bodies), wanted),
    version: manifest.version,
    writeLine,
    log,
  });
}
