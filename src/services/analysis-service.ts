import { AnalysisService } from "../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { estimateOf, keyUrl } from "../access/over-plan.ts";
import { requestBounds, searchLimitOf, type ValidatedRequest } from "../analysis/analysis.ts";
import { flowOf } from "../analysis/fair-queue.ts";
import type { KnownEngines } from "../analysis/validate-request.ts";
import type { Call, Implementation } from "../calls/call.ts";
import { messageFromAnalysis, numberFromLong } from "../calls/convert.ts";
import { messageFromPlan } from "../calls/convert-access.ts";
import { messageFromVersions } from "../calls/convert-engines.ts";
import { uuidv7 } from "../text/uuidv7.ts";
import { type BatchOptions, createBatchEvaluation } from "./batch.ts";
import type { ChargedRequest } from "./charge.ts";
import { createProbe, type ProbeOptions } from "./probe-tablebase.ts";

export interface AnalysisServiceOptions
  extends BatchOptions,
    Pick<ProbeOptions, "tablebase" | "tablesMaxWaitMs"> {
  readonly engines: KnownEngines;
}

type Methods = Implementation<typeof AnalysisService>["methods"];

/** Only converts between messages and domain values. All rules are in other modules. */
export function createAnalysisService(
  options: AnalysisServiceOptions,
): Implementation<typeof AnalysisService> {
  const { analyzer, engines: known, access, validate, charge, tablebase } = options;
  const { longCalls } = access;
  const evaluateBatch = createBatchEvaluation(options);

  /** If the caller has a batch or review in flight, a single request may wait instead of being rejected. */
  async function chargeSingle(
    request: ValidatedRequest,
    call: Call,
    held: DisposableStack,
  ): Promise<ChargedRequest> {
    using turn = longCalls.turnOfSingle(call.account.subject);
    return await charge.request(request, call, held, { waiting: turn && call.signal });
  }

  async function analyze(message: Parameters<Methods["evaluate"]>[0], call: Call) {
    const { account, signal } = call;
    const request = await validate.request(message, call);
    using held = new DisposableStack();
    const charged = await chargeSingle(request, call, held);
    const analysis = await analyzer.analyze(request, flowOf(account.subject), signal, charged.terms);
    charged.answered();
    return messageFromAnalysis(analysis);
  }

  return {
    service: AnalysisService,
    methods: {
      evaluate: analyze,
      findBestMove: analyze,
      async *streamEvaluate(message, call) {
        const { account, signal } = call;
        const request = await validate.request(message, call);
        using held = new DisposableStack();
        const charged = await chargeSingle(request, call, held);
        const id = uuidv7();
        let depth = 0;
        // If the client reads slowly, it misses some states. The search does not wait for the client.
        for await (const followed of analyzer.follow(
          request,
          flowOf(account.subject),
          signal,
          charged.terms,
        )) {
          if (followed.kind === "waiting") {
            yield { event: { case: "queued" as const, value: followed.at } };
            continue;
          }
          const { analysis: state } = followed;
          charged.answered();
          // Send at most one state for each depth, and the state at the requested depth only after the search has ended.
          const isLast = request.depth !== undefined && state.depth >= request.depth;
          if (state.stopReason || (state.depth > depth && !isLast)) {
            depth = state.depth;
            yield { event: { case: "evaluation" as const, value: { ...messageFromAnalysis(state), id } } };
          }
        }
      },
      evaluateBatch,
      async listEngines() {
        const { catalog, available } = known;
        return messageFromVersions(catalog, available, tablebase.summary());
      },
      probeTablebase: createProbe(options),
      async getPrice(message, { account }) {
        const { depth, multipv, movetimeMs } = message;
        const nodes = numberFromLong(message.nodes);
        const asked = [depth, nodes, multipv, movetimeMs].some((limit) => limit !== undefined);
        const { defaultBuild } = known.catalog.latest;
        const limits = {
          ...searchLimitOf({ depth, nodes }, defaultBuild, account.plan.limits),
          multipv: multipv ?? requestBounds.multipv.default,
          movetimeMs,
        };
        const typicalMs = analyzer.expectMs(defaultBuild, limits);
        // Read the plans for each call, because the operator can change them while the server runs.
        const { plans } = access;
        const estimate = estimateOf({ ...limits, depth, nodes }, plans, typicalMs);
        return {
          operation: "eval",
          unit: "call",
          amount: "0",
          currency: "USD",
          paidEnabled: false,
          plans: plans.map(messageFromPlan),
          ...(access.selfService && { keyUrl }),
          ...(asked && { estimate: { typicalMs: estimate.typicalMs, allowed: [...estimate.allowed] } }),
        };
      },
    },
  };
}
