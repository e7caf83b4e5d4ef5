import { computed, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import type { Engine } from "../../../gen/chess/analysis/v1/analysis_pb.ts";
import type { Client } from "../client/client.ts";
import { type OptionField, optionFields } from "./option-fields.ts";
import {
  type NumberName,
  optionPrefix,
  requestFromSettings,
  type SearchRequest,
  type Settings,
} from "./settings.ts";

/** How to search: the content of the form. */
export interface RequestState {
  /** To restore a link, set it whole, with `settingsFromRecord`. */
  readonly settings: Signal<Settings>;
  /** Sets one setting by its name in the API; an empty text removes it. */
  set(name: string, text: string): void;
  /** The engine of these settings; undefined until the list is loaded, or if the list does not have it. */
  readonly engine: ReadonlySignal<Engine | undefined>;
  /** The options of that engine. */
  readonly options: ReadonlySignal<readonly OptionField[] | undefined>;
  /** The fields of an analysis request that say how to search, to be spread into one: `{ fen, ...search.value }`. */
  readonly search: ReadonlySignal<SearchRequest>;
  /** True while no request can be sent: options are set, and their types are not loaded yet. */
  readonly isWaiting: ReadonlySignal<boolean>;
  /** The maximum of the caller's plan; undefined until it is loaded. */
  planMaximum(name: NumberName): number | undefined;
}

export function createRequestState({ offer, account }: Pick<Client, "offer" | "account">): RequestState {
  const settings = signal<Settings>({});
  const engine = computed(() => {
    const wanted = settings.value.engine ?? "latest";
    const id = wanted === "latest" ? offer.engines.value?.latest : wanted;
    return offer.engines.value?.engines.find((one) => one.id === id);
  });
  const options = computed(() => engine.value && optionFields(engine.value.optionsSchema));
  return {
    settings,
    set(name, text) {
      const { [name]: _, ...others } = settings.peek();
      settings.value = text === "" ? others : { ...others, [name]: text };
    },
    engine,
    options,
    search: computed(() => requestFromSettings(settings.value, options.value)),
    isWaiting: computed(
      () =>
        offer.engines.value === undefined &&
        Object.keys(settings.value).some((name) => name.startsWith(optionPrefix)),
    ),
    planMaximum(name) {
      const limits = account.limits.value;
      return (
        limits &&
        {
          depth: limits.depthMax,
          multipv: limits.multipvMax,
          movetime_ms: limits.movetimeMsMax,
          nodes: Number(limits.nodesMax),
        }[name]
      );
    },
  };
}
