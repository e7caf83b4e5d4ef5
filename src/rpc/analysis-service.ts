import type { ServiceImpl } from "@connectrpc/connect";
import { AnalysisService } from "../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { estimateOf } from "../access/estimate.ts";
import type { Plan } from "../access/plans.ts";
import type { Analyzer } from "../analysis/analyzer.ts";
import { defaultDepth, judgeRequest, type KnownEngines } from "../analysis/judge-request.ts";
import { callerKey } from "./caller-key.ts";
import type { Implementation } from "./calls.ts";
import { messageFromAnalysis, messageFromPlan, messageFromVersion, requestFromMessage } from "./convert.ts";

export interface AnalysisServiceOptions {
  readonly analyzer: Analyzer;
  readonly engines: KnownEngines;
  /** The plans in force, smallest first. */
  readonly plans: readonly Plan[];
}

type Methods = ServiceImpl<typeof AnalysisService>;

/** AnalysisService over the domain: messages in, messages out, and no rule of its own. */
export function createAnalysisService(
  options: AnalysisServiceOptions,
): Implementation<typeof AnalysisService> {
  const { analyzer, engines, plans } = options;

  const analyze: Methods["evaluate"] & Methods["findBestMove"] = async (message, { signal, values }) => {
    const request = await judgeRequest(requestFromMessage(message), engines);
    return messageFromAnalysis(await analyzer.analyze(request, values.get(callerKey).address, signal));
  };

  return {
    service: AnalysisService,
    methods: {
      evaluate: analyze,
      findBestMove: analyze,
      async listEngines() {
        const { versions, latest } = engines.catalog;
        const listed = versions.map(async (version) => {
          const digests = version.builds.map(async (build) => [build, await build.sha256()] as const);
          const info = await engines.describe(version.defaultBuild);
          const facts = {
            version,
            info,
            latest: version === latest,
            digests: new Map(await Promise.all(digests)),
          };
          return messageFromVersion(facts);
        });
        return { latest: latest.id, engines: await Promise.all(listed) };
      },
      getPrice({ depth, multipv, movetimeMs }) {
        const asked = depth !== undefined || multipv !== undefined || movetimeMs !== undefined;
        const limits = { depth: depth ?? defaultDepth, multipv: multipv ?? 1, movetimeMs };
        return {
          operation: "eval",
          unit: "call",
          amount: "0",
          currency: "USD",
          paidEnabled: false,
          plans: plans.map(messageFromPlan),
          ...(asked && { estimate: estimateOf(limits, plans) }),
        };
      },
    },
  };
}
