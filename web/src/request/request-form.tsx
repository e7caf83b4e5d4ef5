import { type Engine, NetSize } from "../../../gen/chess/analysis/v1/analysis_pb.ts";
import { usePage } from "../page.ts";
import { texts } from "../texts.ts";
import { CheckField, ChoiceField, NumberField, TextField } from "./field.tsx";
import type { OptionField } from "./option-fields.ts";
import { type NumberName, optionPrefix, paths } from "./settings.ts";
import "./request-form.css";

const words = texts.request;

/** The settings that a request has: all those of an analysis, or those that are named. */
export type SettingName = NumberName | "engine" | "path" | "search_moves" | "options";

const inView: readonly SettingName[] = ["depth", "multipv", "engine"];
const folded: readonly SettingName[] = ["movetime_ms", "nodes", "path", "search_moves", "options"];

/** How to search: the usual settings in view, the others folded. */
export function RequestForm({ only }: { readonly only?: readonly SettingName[] }) {
  const { client, request } = usePage();
  const { engines, isMissing } = client.offer;
  const isSet = (name: SettingName) =>
    Object.keys(request.settings.value).some((one) => one === name || one.startsWith(`${name}.`));
  const isWanted = (name: SettingName) => only?.includes(name) ?? true;
  const more = folded.filter(isWanted);
  return (
    <form class="request-form" aria-label={words.title} onSubmit={(event) => event.preventDefault()}>
      <div class="fields">
        {inView.filter(isWanted).map((name) => (
          <Setting key={name} name={name} />
        ))}
      </div>
      {isMissing.value && engines.value === undefined && <p class="field-hint">{words.offerUnknown}</p>}
      {more.length > 0 && (
        <details>
          <summary>{words.more(more.filter(isSet).length)}</summary>
          <div class="fields">
            {more.map((name) => (
              <Setting key={name} name={name} />
            ))}
          </div>
          <button
            type="button"
            onClick={() => {
              request.settings.value = {};
            }}
          >
            {words.reset}
          </button>
        </details>
      )}
    </form>
  );
}

function Setting({ name }: { readonly name: SettingName }) {
  const { request } = usePage();
  switch (name) {
    case "engine":
      return <EngineField />;
    case "path":
      return <PathField />;
    case "search_moves":
      return <TextField name={name} label={words.searchMoves} hint={words.searchMovesHint} />;
    case "options":
      return <Options />;
    default: {
      const maximum = request.planMaximum(name);
      const hint = maximum === undefined ? undefined : words.maximum(maximum);
      return <NumberField name={name} minimum={1} maximum={maximum} hint={hint} {...words.numbers[name]} />;
    }
  }
}

function EngineField() {
  const offered = usePage().client.offer.engines.value;
  const latest = offered?.engines.find(({ id }) => id === offered.latest);
  return (
    <ChoiceField
      name="engine"
      label={words.engine}
      choices={[
        ["latest", words.latest(latest?.name)],
        ...(offered?.engines ?? []).map((engine) => [engine.id, nameOf(engine)] as const),
      ]}
    />
  );
}

function nameOf({ name, id, paths: builds }: Engine): string {
  const isLite = builds.some(({ net }) => net === NetSize.LITE);
  return isLite && !/lite/i.test(name) ? `${name} (${id})` : name;
}

function PathField() {
  const builds = usePage().request.engine.value?.paths;
  const choices = Object.entries(paths).filter(
    ([word, path]) =>
      word === "auto" ||
      builds === undefined ||
      builds.some((build) => build.path === path && build.available),
  );
  return (
    <ChoiceField
      name="path"
      label={words.path}
      choices={choices.map(([word]) => [word, words.paths[word as keyof typeof paths]])}
    />
  );
}

function Options() {
  const options = usePage().request.options.value ?? [];
  return options.length === 0 ? null : (
    <fieldset class="options">
      <legend>{words.options}</legend>
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
    case "integer":
      return (
        <NumberField
          {...field}
          minimum={minimum}
          maximum={maximum}
          hint={minimum === undefined || maximum === undefined ? undefined : words.range(minimum, maximum)}
        />
      );
    case "boolean":
      return <CheckField {...field} />;
    case "choice":
      return <ChoiceField {...field} choices={choices.map((word) => [word, word])} />;
    case "text":
      return <TextField {...field} />;
  }
}
