import { create, type DescMessage } from "@bufbuild/protobuf";
import { AnalysisService } from "../gen/chess/analysis/v1/analysis_service_pb.ts";
import type { Plan } from "./access/plans.ts";
import { createMessageWriter } from "./gateway/codec/write-message.ts";
import { messageFromPlan } from "./rpc/convert.ts";
import type { ShownPlan } from "./server/pages/openapi-document.ts";

/** Plans as `GET /price` shows them: by the same message, in the same JSON. */
export function shownPlans(plans: readonly Plan[]): readonly ShownPlan[] {
  const message = planMessage();
  const write = createMessageWriter(message);
  return plans.map((plan) => JSON.parse(write(create(message, messageFromPlan(plan)))));
}

/** What `GET /price` shows of a plan. */
export function planMessage(): DescMessage {
  const { message } = AnalysisService.method.getPrice.output.field.plans;
  if (message === undefined) {
    throw new Error("the plans of GetPriceResponse are no messages");
  }
  return message;
}
