import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { announce } from "../parts/live-region.tsx";
import { texts } from "../texts.ts";
import { setSetting, settingFaults, settings } from "./request.ts";

interface FieldProps {
  /** The name of the setting. */
  readonly name: string;
  readonly label: string;
  /** A hint that is shown while the value is valid. */
  readonly hint?: string | undefined;
  /** A warning that the service will refuse this value, although it is valid. */
  readonly warning?: string | undefined;
}

/** A setting with its label; what is wrong with it stands beside it and is read with it. */
function Field({
  name,
  label,
  hint,
  warning,
  isWide = false,
  children,
}: FieldProps & { readonly isWide?: boolean; readonly children: ComponentChildren }) {
  const fault = settingFaults.value[name] ?? warning;
  useEffect(() => {
    if (fault) {
      announce(texts.request.fault(label, fault));
    }
  }, [fault]);
  return (
    <div class={isWide ? "field field-wide" : "field"}>
      <label for={idOf(name)}>{label}</label>
      {children}
      <p class={fault ? "field-fault" : "field-hint"} id={noteIdOf(name)}>
        {fault ?? hint}
      </p>
    </div>
  );
}

interface NumberFieldProps extends FieldProps {
  readonly minimum?: number | undefined;
  readonly maximum?: number | undefined;
  /** The default, which applies if nothing is set. */
  readonly usual?: number | undefined;
}

export function NumberField({ minimum, maximum, usual, ...field }: NumberFieldProps) {
  const { name } = field;
  return (
    <Field {...field}>
      <input
        {...common(name)}
        type="number"
        inputMode="numeric"
        min={minimum}
        max={maximum}
        step={1}
        placeholder={usual?.toString()}
        value={settings.value[name] ?? ""}
        onInput={({ currentTarget }) => setSetting(name, currentTarget.value)}
      />
    </Field>
  );
}

interface ChoiceFieldProps extends FieldProps {
  readonly choices: readonly (readonly [value: string, label: string])[];
  /** The default, which applies if nothing is set; the first choice if this is undefined. */
  readonly usual?: string | undefined;
}

export function ChoiceField({ choices, usual = choices[0]?.[0] ?? "", ...field }: ChoiceFieldProps) {
  const { name } = field;
  const value = settings.value[name] ?? usual;
  const known = choices.some(([choice]) => choice === value);
  return (
    <Field {...field} isWide>
      <select
        {...common(name)}
        value={value}
        onChange={({ currentTarget }) =>
          setSetting(name, currentTarget.value === usual ? "" : currentTarget.value)
        }
      >
        {known || <option value={value}>{value}</option>}
        {choices.map(([choice, shown]) => (
          <option key={choice} value={choice}>
            {shown}
          </option>
        ))}
      </select>
    </Field>
  );
}

export function TextField({ usual, ...field }: FieldProps & { readonly usual?: string | undefined }) {
  const { name } = field;
  return (
    <Field {...field} isWide>
      <input
        {...common(name)}
        type="text"
        autocomplete="off"
        spellcheck={false}
        placeholder={usual}
        value={settings.value[name] ?? ""}
        onInput={({ currentTarget }) => setSetting(name, currentTarget.value)}
      />
    </Field>
  );
}

export function CheckField({ usual, ...field }: FieldProps & { readonly usual: boolean }) {
  const { name } = field;
  const checked = settings.value[name] === undefined ? usual : settings.value[name] === "true";
  const note = settingFaults.value[name] ?? field.hint;
  return (
    <div class="field field-check">
      <input
        {...common(name)}
        aria-describedby={note && noteIdOf(name)}
        type="checkbox"
        checked={checked}
        onChange={({ currentTarget: { checked: now } }) => setSetting(name, now === usual ? "" : String(now))}
      />
      <label for={idOf(name)}>{field.label}</label>
      {note && (
        <p class={settingFaults.value[name] ? "field-fault" : "field-hint"} id={noteIdOf(name)}>
          {note}
        </p>
      )}
    </div>
  );
}

function common(name: string) {
  return {
    id: idOf(name),
    "aria-describedby": noteIdOf(name),
    "aria-invalid": settingFaults.value[name] !== undefined,
  };
}

const idOf = (name: string) => `setting-${name}`;
const noteIdOf = (name: string) => `setting-${name}-note`;
