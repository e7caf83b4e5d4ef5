import { computed, effect, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import type { Engine } from "../../../gen/chess/analysis/v1/analysis_pb.ts";
import { defaultDepth } from "../../../src/engine/profiles.ts";
import type { Client } from "../client/client.ts";
import { store, stored } from "../parts/stored.ts";
import { type OptionField, optionFields } from "./option-fields.ts";
import {
  type NumberName,
  optionPrefix,
  requestFromSettings,
  type SearchRequest,
  type Settings,
  settingsFromRecord,
  type UsualLimit,
} from "./settings.ts";

export interface RequestState {
  readonly settings: Signal<Settings>;
  /** Sets one setting by its name in the API. An empty text removes the setting. The browser keeps {@link keptNames}. */
  set(name: string, text: string): void;
  /** Sets the settings of an address. Settings that the browser keeps stand in for settings that the address lacks. */
  useSettings(own: Settings): void;
  reset(): void;
  /** Undefined until the engines are loaded, or if the service does not have the engine. */
  readonly engine: ReadonlySignal<Engine | undefined>;
  readonly options: ReadonlySignal<readonly OptionField[] | undefined>;
  /** The limit of the selected engine. Until the engines are loaded, the limit of most engines. */
  readonly usualLimit: ReadonlySignal<UsualLimit>;
  /** True if only a time limits the search. */
  readonly isTimed: ReadonlySignal<boolean>;
  /**
   * The greatest limit of the caller's plan if only a time limits the search: otherwise, the default limit would usually end the
   * search before its time.
   */
  readonly greatestLimit: ReadonlySignal<Pick<SearchRequest, "depth" | "nodes">>;
  /** Fields to add to an analysis request: `{ fen, ...search.value }`. */
  readonly search: ReadonlySignal<SearchRequest>;
  /**
   * True if the page cannot send a request yet, because the settings contain an option, a depth or a time, and the engines are
   * not loaded: the options have types, some engines refuse a depth, and a time alone needs the limits of the plan.
   */
  readonly isWaiting: ReadonlySignal<boolean>;
  /** Returns the largest value that the caller's plan allows. Returns undefined until the plan is loaded. */
  planMaximum(name: NumberName): number | undefined;
}

/** The browser keeps only these settings, because other settings depend on the engine or on the position. */
const keptNames: readonly string[] = ["depth", "multipv", "engine"];
const place = "kibitz-settings";

function keptSettings(): Settings {
  return settingsFromRecord(Object.fromEntries(new URLSearchParams(stored("localStorage", place))));
}

function changed(settings: Settings, name: string, text: string): Settings {
  const { [name]: _, ...others } = settings;
  return text === "" ? others : { ...others, [name]: text };
}

function keep(settings: Settings): void {
  store("localStorage", place, new URLSearchParams(settings).toString() || undefined);
}

export function createRequestState({ offer, account }: Pick<Client, "offer" | "account">): RequestState {
  const settings = signal<Settings>({});
  const set = (name: string, text: string) => {
    settings.value = changed(settings.peek(), name, text);
    if (keptNames.includes(name)) {
      keep(changed(keptSettings(), name, text));
    }
  };
  const engine = computed(() => {
    const wanted = settings.value.engine ?? "latest";
    const id = wanted === "latest" ? offer.engines.value?.latest : wanted;
    return offer.engines.value?.engines.find((one) => one.id === id);
  });
  const options = computed(() => engine.value && optionFields(engine.value.optionsSchema));
  effect(() => {
    const id = keptSettings().engine;
    // The service may no longer have the engine that the user chose on an earlier day.
    if (id !== undefined && offer.engines.value?.engines.every((one) => one.id !== id)) {
      keep(changed(keptSettings(), "engine", ""));
      if (settings.peek().engine === id) {
        settings.value = changed(settings.peek(), "engine", "");
      }
    }
  });
  const usualLimit = computed<UsualLimit>(() => {
    const { case: name, value } = engine.value?.defaultLimit?.limit ?? {};
    return name === undefined ? { name: "depth", value: defaultDepth } : { name, value: Number(value) };
  });
  const search = computed(() => requestFromSettings(settings.value, options.value, usualLimit.value.name));
  const isTimed = computed(() => {
    const { depth, nodes, movetimeMs } = search.value;
    return movetimeMs !== undefined && depth === undefined && nodes === undefined;
  });
  function planMaximum(name: NumberName): number | undefined {
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
  }
  return {
    settings,
    set,
    useSettings(own) {
      settings.value = { ...keptSettings(), ...own };
    },
    reset() {
      settings.value = {};
      keep({});
    },
    engine,
    options,
    usualLimit,
    search,
    isTimed,
    greatestLimit: computed(() => {
      const { name } = usualLimit.value;
      const most = isTimed.value ? planMaximum(name) : undefined;
      return most === undefined ? {} : name === "depth" ? { depth: most } : { nodes: BigInt(most) };
    }),
    isWaiting: computed(
      () =>
        offer.engines.value === undefined &&
        Object.keys(settings.value).some(
          (name) => name === "depth" || name === "movetime_ms" || name.startsWith(optionPrefix),
        ),
    ),
    planMaximum,
  };
}
