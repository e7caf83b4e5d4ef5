import { createClient } from "@connectrpc/connect";
import type { AnalysisRequest } from "../../gen/chess/analysis/v1/analysis_pb.ts";
import { AnalysisService } from "../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { KeyService } from "../../gen/chess/analysis/v1/key_service_pb.ts";
import type { CommandInput } from "./command.ts";
import { remoteAddressOf } from "./remote-address.ts";
import type { Target } from "./target.ts";
import { findEngine } from "./uci/choose-engine.ts";

/**
 * If only a time limits the search, adds the greatest limit of the caller's plan: otherwise the default limit would usually end
 * the search before its time.
 */
export async function withGreatestLimit<R extends AnalysisRequest>(
  request: R,
  { transport }: Pick<Target, "transport">,
  input: CommandInput,
): Promise<R> {
  const { depth, nodes, movetimeMs } = request;
  if (movetimeMs === undefined || depth !== undefined || nodes !== undefined) {
    return request;
  }
  const { signal } = input;
  const { listEngines, getPrice } = createClient(AnalysisService, transport);
  const hasKey = remoteAddressOf(input)?.key !== undefined;
  const [{ engines }, limits] = await Promise.all([
    listEngines({}, { signal }),
    hasKey
      ? createClient(KeyService, transport)
          .getKey({}, { signal })
          .then((key) => key.limits)
      : getPrice({}, { signal }).then(({ plans }) => plans.find(({ requiresKey }) => !requiresKey)?.limits),
  ]);
  const engine = findEngine(engines, request);
  if (engine === undefined || limits === undefined) {
    // The service then says what is wrong.
    return request;
  }
  return engine.defaultLimit?.limit.case === "nodes"
    ? { ...request, nodes: limits.nodesMax }
    : { ...request, depth: limits.depthMax };
}
