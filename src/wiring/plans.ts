import { readFileSync, statSync } from "node:fs";
import { create, type DescMessage } from "@bufbuild/protobuf";
import { AnalysisService } from "../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { builtInPlans, type Plan } from "../access/plans.ts";
import { type PlanForm, type PlansFault, type PlansReading, readPlans } from "../access/read-plans.ts";
import { messageFromPlan, planFromMessage } from "../calls/convert-access.ts";
import { createMessageReader } from "../calls/plain/read-message.ts";
import { unknownFieldFault } from "../calls/plain/refuse.ts";
import { createPlainWriter } from "../calls/plain/write-message.ts";
import { errorFromUnknown } from "../errors/errors.ts";
import { readJsonObject } from "../protocols/json/json-text.ts";
import { pointerStep } from "../text/json-pointer.ts";
import { ConfigError } from "./config.ts";
import type { Config } from "./settings.ts";

/** The plans of the operator's file, or the built-in ones. @throws ConfigError */
export function loadPlans({ plansFile }: Pick<Config, "plansFile">): readonly Plan[] {
  if (plansFile === undefined) {
    return builtInPlans;
  }
  const reading = plansFromJson(readText(plansFile));
  if (reading.kind === "faults") {
    const lines = reading.faults.map(({ pointer, message }) => {
      const place = pointer === "" ? "" : `, at ${pointer}`;
      return `KIBITZ_PLANS: in ${plansFile}${place}: ${message}`;
    });
    throw new ConfigError(lines.join("\n"));
  }
  return reading.plans;
}

/** More than any plans; what goes on for ever, such as a device, would fill the memory. */
const plansMaxBytes = 1_000_000;

function readText(file: string): string {
  try {
    const found = statSync(file);
    if (!found.isFile() || found.size > plansMaxBytes) {
      throw new Error(`it is not a file of at most ${plansMaxBytes} bytes`);
    }
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new ConfigError(`KIBITZ_PLANS: ${file} cannot be read: ${(error as Error).message}`);
  }
}

/** Reads a file of plans, `{"plans": […]}`, each in the form in which `GET /price` shows it. */
export function plansFromJson(text: string): PlansReading {
  let file: Readonly<Record<string, unknown>>;
  try {
    file = readJsonObject(text);
  } catch (thrown) {
    const { faults, message: all } = errorFromUnknown(thrown);
    const found = faults.length > 0 ? faults : [{ pointer: "", message: all }];
    return faultsOf(
      found.map(({ pointer, message }) => ({
        pointer,
        message: message.replace(/^The (body|request)/, "The file"),
      })),
    );
  }
  const { plans, ...others } = file;
  const faults: PlansFault[] = Object.keys(others).map((key) => ({
    ...unknownFieldFault(key, ["plans"]),
    pointer: pointerStep(key),
  }));
  if (!Array.isArray(plans)) {
    return faultsOf([...faults, { pointer: "/plans", message: "`plans` must be a list of plans." }]);
  }
  const read = readPlans(plans, createPlanForm());
  if (read.kind === "plans") {
    return faults.length === 0 ? read : faultsOf(faults);
  }
  const inPlans = read.faults.map((fault) => ({ ...fault, pointer: `/plans${fault.pointer}` }));
  return faultsOf([...faults, ...inPlans]);
}

function faultsOf(faults: readonly PlansFault[]): PlansReading {
  return { kind: "faults", faults };
}

function createPlanForm(): PlanForm {
  const read = createMessageReader(planMessage());
  return {
    write: (plan) => ({ ...shownPlans([plan])[0] }),
    read(json) {
      const { message, faults } = read(json);
      return { plan: planFromMessage(message), faults };
    },
  };
}

/** Plans as `GET /price` shows them: by the same message, in the same JSON. */
export function shownPlans(plans: readonly Plan[]): readonly object[] {
  const message = planMessage();
  const write = createPlainWriter(message);
  return plans.map((plan) => write(create(message, messageFromPlan(plan))));
}

/** What `GET /price` shows of a plan. */
function planMessage(): DescMessage {
  const { message } = AnalysisService.method.getPrice.output.field.plans;
  if (message === undefined) {
    throw new Error("the plans of GetPriceResponse are no messages");
  }
  return message;
}
