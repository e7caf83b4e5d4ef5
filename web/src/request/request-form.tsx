import type { ComponentChildren } from "preact";
import { usePage } from "../page.ts";
import { CheckField, ChoiceField, InputField } from "./field.tsx";
import type { OptionField } from "./option-fields.ts";
import { type NumberName, optionPrefix, paths } from "./settings.ts";
import "./request-form.css";

type SettingName = NumberName | "engine" | "path" | "search_moves" | "options";

/** An engine whose usual limit is a number of nodes has no field for the depth. */
const namesFor = {
  depth: {
    inView: ["depth", "multipv", "engine"],
    folded: ["movetime_ms", "nodes", "path", "search_moves", "options"],
  },
  nodes: {
    inView: ["nodes", "multipv", "engine"],
    folded: ["movetime_ms", "path", "search_moves", "options"],
  },
} as const satisfies Record<string, Record<string, readonly SettingName[]>>;

const numbers = {
  depth: { label: "Depth" },
  multipv: { label: "Lines", usual: "1" },
  movetime_ms: { label: "Time in ms" },
  nodes: { label: "Nodes" },
};

interface RequestFormProps {
  readonly only?: readonly SettingName[];
  readonly children?: ComponentChildren;
}

export function RequestForm({ only, children }: RequestFormProps) {
  const { client, request } = usePage();
  const { engines, isMissing } = client.offer;
  const isSet = (name: SettingName) =>
    Object.keys(request.settings.value).some((one) => one === name || one.startsWith(`${name}.`));
  const settings = (names: readonly SettingName[]) => names.map((name) => <Setting key={name} name={name} />);
  const { inView, folded } = namesFor[request.usualLimit.value.name];
  const isWanted = (name: SettingName) => only?.includes(name) ?? true;
  const more = folded.filter(isWanted);
  const set = more.filter(isSet).length;
  return (
    <form class="request-form fields" aria-label="How to search" onSubmit={(event) => event.preventDefault()}>
      {settings(inView.filter(isWanted))}
      {children}
      {isMissing.value && engines.value === undefined && (
        <p class="quiet-text">The service has not said which engines and limits it has.</p>
      )}
      <details>
        <summary>
          More<span class="heard-only"> settings</span>
          {set > 0 && ` (${set} set)`}
        </summary>
        <div class="fields">{settings(more)}</div>
        <button type="button" onClick={request.reset}>
          Reset all settings
        </button>
      </details>
    </form>
  );
}

function Setting({ name }: { readonly name: SettingName }) {
  const { request, address } = usePage();
  switch (name) {
    case "engine":
      return <EngineField />;
    case "path":
      return <PathField />;
    case "search_moves":
      return <InputField type="text" name={name} label="Only these moves" hint="e.g. e4 Nf3; empty: all" />;
    case "options":
      return <Options />;
    default: {
      const maximum = request.planMaximum(name);
      const limit = request.usualLimit.value;
      const usualValue = Math.min(limit.value, maximum ?? limit.value);
      // A review has no time limit.
      const isTimed = request.isTimed.value && address.view.value !== "review";
      const usual = limit.name === name ? String((isTimed && maximum) || usualValue) : undefined;
      const hint = maximum && `max. ${grouped(maximum)}`;
      return (
        <InputField
          type="number"
          name={name}
          minimum={1}
          maximum={maximum}
          hint={hint || undefined}
          usual={usual}
          {...numbers[name]}
        />
      );
    }
  }
}

function EngineField() {
  const { client, request } = usePage();
  const offered = client.offer.engines.value;
  const engines = offered?.engines ?? [];
  const latest = engines.find(({ id }) => id === offered?.latest);
  // The latest engine is listed once, also if a link names its id.
  const isNamed = latest !== undefined && request.settings.value.engine === latest.id;
  return (
    <ChoiceField
      name="engine"
      label="Engine"
      choices={[
        [isNamed ? latest.id : "latest", latest ? `${latest.name} (latest)` : "Latest"],
        ...engines
          .filter((engine) => engine !== latest)
          .map(({ id, name, paths }) => {
            const isAlone = engines.filter((other) => other.name === name).length === 1;
            const shown = isAlone ? name : `${name} (${id})`;
            const reasons = paths.map(({ unavailableReason }) => unavailableReason);
            return reasons.includes(undefined)
              ? ([id, shown] as const)
              : ([id, `${shown}, not available: ${reasons[0]}`, "disabled"] as const);
          }),
      ]}
    />
  );
}

function PathField() {
  const builds = usePage().request.engine.value?.paths;
  const has = (word: keyof typeof paths) =>
    builds?.some(({ path, available }) => path === paths[word] && available) ?? true;
  return (
    <ChoiceField
      name="path"
      label="Build"
      choices={[
        ["auto", "Automatic"],
        ...(has("native") ? ([["native", "Native"]] as const) : []),
        ...(has("wasm") ? ([["wasm", "WebAssembly"]] as const) : []),
      ]}
    />
  );
}

function Options() {
  const options = usePage().request.options.value ?? [];
  return options.length === 0 ? null : (
    <fieldset class="options">
      <legend>Engine options</legend>
      <div class="fields">
        {options.map((option) => (
          <Option key={option.name} option={option} />
        ))}
      </div>
    </fieldset>
  );
}

function Option({ option }: { readonly option: OptionField }) {
  const { name, title, kind, usual, minimum, maximum, choices } = option;
  const field = { name: optionPrefix + name, label: title, usual };
  switch (kind) {
    case "boolean":
      return <CheckField {...field} />;
    case "choice":
      return <ChoiceField {...field} choices={choices.map((word) => [word, word])} />;
    default: {
      const isRange = minimum !== undefined && maximum !== undefined;
      const hint = isRange ? `${grouped(minimum)} to ${grouped(maximum)}` : undefined;
      return <InputField {...field} type={kind} minimum={minimum} maximum={maximum} hint={hint} />;
    }
  }
}

function grouped(number: number): string {
  return number.toLocaleString("en");
}
