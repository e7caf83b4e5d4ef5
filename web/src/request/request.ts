import { computed, signal } from "@preact/signals";
import type { Engine, PlanLimits } from "../../../gen/chess/analysis/v1/analysis_pb.ts";
import { ownLimits } from "../client/account.ts";
import { engines, offerFailed } from "../client/offer.ts";
import { texts } from "../texts.ts";
import type { NumberName } from "./number-bounds.ts";
import { optionFields } from "./option-fields.ts";
import { optionPrefix, readSettings, type Settings } from "./settings.ts";

/** How to search: what the form shows and changes. Whoever restores a link sets it whole, by `settingsFromRecord`. */
export const settings = signal<Settings>({});

/** Sets one, by its name in the API; an empty text unsets it. */
export function setSetting(name: string, text: string): void {
  const { [name]: _, ...others } = settings.peek();
  settings.value = text === "" ? others : { ...others, [name]: text };
}

/** The engine that these settings ask; undefined as long as the list has not come, or where it has none of that name. */
export const chosenEngine = computed<Engine | undefined>(() => {
  const wanted = settings.value.engine ?? "latest";
  const id = wanted === "latest" ? engines.value?.latest : wanted;
  return engines.value?.engines.find((engine) => engine.id === id);
});

/** The options of that engine. */
export const chosenOptions = computed(
  () => chosenEngine.value && optionFields(chosenEngine.value.optionsSchema),
);

const read = computed(() => readSettings(settings.value, chosenOptions.value));

/** The options that are set, by the names of their settings, as long as nobody knows which there are. */
const unknownOptions = computed(() =>
  engines.value === undefined
    ? Object.keys(settings.value).filter((name) => name.startsWith(optionPrefix))
    : [],
);

/** True while no request can be sent: options are set, and the engine's options are still being loaded. */
export const isWaitingForOptions = computed(() => unknownOptions.value.length > 0 && !offerFailed.value);

/** The fields of an analysis request that say how to search, to be spread into one: `{ fen, ...searchRequest.value }`. */
export const searchRequest = computed(() => read.value.request);

/** Error messages of the settings by name. While there is one, send no request. */
export const settingFaults = computed<Readonly<Record<string, string>>>(() =>
  offerFailed.value && unknownOptions.value.length > 0
    ? {
        ...read.value.faults,
        ...Object.fromEntries(unknownOptions.value.map((name) => [name, texts.request.offerUnknown])),
      }
    : read.value.faults,
);

/** The most that the caller's plan allows of a number; undefined as long as nobody knows. */
export function planMaximum(name: NumberName): number | undefined {
  const limits = ownLimits.value;
  return limits && maximumOf(name, limits);
}

function maximumOf(name: NumberName, limits: PlanLimits): number {
  switch (name) {
    case "depth":
      return limits.depthMax;
    case "multipv":
      return limits.multipvMax;
    case "movetime_ms":
      return limits.movetimeMsMax;
    case "nodes":
      return Number(limits.nodesMax);
  }
}

/** Returns a warning if a setting exceeds the caller's plan; undefined if it does not, or if the plan is unknown. */
export function beyondPlan(name: NumberName): string | undefined {
  const maximum = planMaximum(name);
  return maximum !== undefined && Number(settings.value[name] ?? 0) > maximum
    ? texts.request.beyondPlan(maximum)
    : undefined;
}
