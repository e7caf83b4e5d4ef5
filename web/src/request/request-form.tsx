import { useComputed } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { type Engine, NetSize } from "../../../gen/chess/analysis/v1/analysis_pb.ts";
import { lastExchange } from "../client/exchange.ts";
import { engines, loadOffer, offerFailed } from "../client/offer.ts";
import { texts } from "../texts.ts";
import { CheckField, ChoiceField, NumberField, TextField } from "./field.tsx";
import { type NumberName, numberBounds } from "./number-bounds.ts";
import type { OptionField } from "./option-fields.ts";
import { beyondPlan, chosenEngine, chosenOptions, planMaximum, setSetting, settings } from "./request.ts";
import { optionPrefix, paths } from "./settings.ts";
import "./request-form.css";

const words = texts.request;

/** The settings that a request has: all those of an analysis, or those that are named. */
export type SettingName = NumberName | "engine" | "path" | "search_moves" | "options";

const inView: readonly SettingName[] = ["depth", "multipv", "engine"];
const folded: readonly SettingName[] = ["movetime_ms", "nodes", "path", "search_moves", "options"];

/** How long until what is offered is asked for again where nobody answered, in milliseconds. */
const againMs = 5000;

/** How to search: the usual settings in view, the others folded. What it shows is in `settings`. */
export function RequestForm({ only }: { readonly only?: readonly SettingName[] }) {
  const isAnswered = useComputed(() => lastExchange.value?.state === "done").value;
  // If loading failed, try again once the service answers, and from time to time.
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isOver = false;
    const load = () =>
      loadOffer().catch(() => {
        timer = isOver ? undefined : setTimeout(load, againMs);
      });
    void load();
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [isAnswered]);
  const isWanted = (name: SettingName) => only?.includes(name) ?? true;
  const more = folded.filter(isWanted);
  return (
    <form class="request-form" aria-label={words.title} onSubmit={(event) => event.preventDefault()}>
      <div class="fields">
        {inView.filter(isWanted).map((name) => (
          <Setting key={name} name={name} />
        ))}
      </div>
      {offerFailed.value && engines.value === undefined && <p class="field-hint">{words.offerUnknown}</p>}
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
              settings.value = {};
            }}
          >
            {words.reset}
          </button>
        </details>
      )}
    </form>
  );
}

function isSet(name: SettingName): boolean {
  return Object.keys(settings.value).some((one) => one === name || one.startsWith(`${name}.`));
}

function Setting({ name }: { readonly name: SettingName }) {
  switch (name) {
    case "engine":
      return <EngineField />;
    case "path":
      return <PathField />;
    case "search_moves":
      return <TextField name={name} label={words.searchMoves} hint={words.searchMovesHint} />;
    case "options":
      return <Options />;
    default:
      return <LimitField name={name} />;
  }
}

function LimitField({ name }: { readonly name: NumberName }) {
  const maximum = planMaximum(name);
  return (
    <NumberField
      name={name}
      label={words.numbers[name].label}
      hint={words.numbers[name].hint(maximum)}
      warning={beyondPlan(name)}
      usual={words.numbers[name].usual}
      {...numberBounds[name]}
    />
  );
}

function EngineField() {
  const offered = engines.value?.engines ?? [];
  const latest = offered.find(({ id }) => id === engines.value?.latest);
  return (
    <ChoiceField
      name="engine"
      label={words.engine}
      hint={words.engineHint}
      choices={[
        ["latest", latest ? words.latest(latest.name) : words.latestUnknown],
        ...offered.map((engine) => [engine.id, nameOf(engine)] as const),
      ]}
    />
  );
}

function nameOf({ name, id, paths: builds }: Engine): string {
  const isLite = builds.some(({ net }) => net === NetSize.LITE);
  return isLite && !/lite/i.test(name) ? `${name} (${id})` : name;
}

function PathField() {
  const builds = chosenEngine.value?.paths;
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
      hint={words.pathHint}
      choices={choices.map(([word]) => [word, words.paths[word as keyof typeof paths]])}
    />
  );
}

function Options() {
  const options = chosenOptions.value ?? [];
  return options.length === 0 ? null : (
    <fieldset class="options">
      <legend>{words.options}</legend>
      <div class="fields">
        {options.map((option) => (
          <Option key={option.name} option={option} />
        ))}
      </div>
      <button
        type="button"
        onClick={() => {
          for (const { name } of options) {
            setSetting(optionPrefix + name, "");
          }
        }}
      >
        {words.resetOptions}
      </button>
    </fieldset>
  );
}

function Option({ option }: { readonly option: OptionField }) {
  const { name, title } = option;
  const field = { name: optionPrefix + name, label: title };
  switch (option.kind) {
    case "integer":
      return <NumberField {...field} {...option} name={field.name} hint={words.range(option)} />;
    case "boolean":
      return <CheckField {...field} usual={option.usual} />;
    case "choice":
      return (
        <ChoiceField {...field} usual={option.usual} choices={option.choices.map((word) => [word, word])} />
      );
    case "text":
      return <TextField {...field} usual={option.usual} />;
  }
}
