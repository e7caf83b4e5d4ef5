import { type PlanForm, type PlansFault, type PlansReading, readPlans } from "./access/read-plans.ts";
import { parseJsonObject } from "./gateway/codec/json-text.ts";
import { createMessageReader } from "./gateway/codec/read-message.ts";
import { unknownFieldFault } from "./gateway/codec/unknown-field.ts";
import { planFromMessage } from "./rpc/convert-plan.ts";
import { planMessage, shownPlans } from "./shown-plans.ts";
import { pointerStep } from "./text/json-pointer.ts";

/** Reads a file of plans, `{"plans": […]}`, each in the form in which `GET /price` shows it. */
export function plansFromJson(text: string): PlansReading {
  const reading = parseJsonObject(text);
  if (reading.kind === "faults") {
    return faultsOf(
      reading.faults.map(({ pointer, message }) => ({
        pointer,
        message: message.replace(/^The body/, "The file"),
      })),
    );
  }
  const { plans, ...others } = reading.value;
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
