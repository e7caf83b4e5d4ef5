import type { ComponentChildren } from "preact";
import { usePage } from "../page.ts";

interface FieldProps {
  readonly name: string;
  readonly label: string;
  readonly hint?: string | undefined;
  readonly usual?: string | undefined;
}

interface LayoutProps extends FieldProps {
  readonly kind: "number" | "text" | "check";
  readonly children: ComponentChildren;
}

function Field({ name, label, hint, kind, children }: LayoutProps) {
  return (
    <div class={`field field-${kind}`}>
      <label for={idOf(name)}>{label}</label>
      {children}
      {hint && (
        <p class="quiet-text" id={hintIdOf(name)}>
          {hint}
        </p>
      )}
    </div>
  );
}

interface InputFieldProps extends FieldProps {
  readonly type: "number" | "text";
  readonly minimum?: number | undefined;
  readonly maximum?: number | undefined;
}

/** The browser marks a number that is out of range. The service explains any other invalid value. */
export function InputField({ type, minimum, maximum, usual, ...field }: InputFieldProps) {
  const { request } = usePage();
  const { name } = field;
  return (
    <Field {...field} kind={type}>
      <input
        {...common(field)}
        {...(type === "number" ? ({ type, inputMode: "numeric" } as const) : ({ type } as const))}
        min={minimum}
        max={maximum}
        autocomplete="off"
        spellcheck={false}
        placeholder={usual}
        value={request.settings.value[name] ?? ""}
        onInput={({ currentTarget }) => request.set(name, currentTarget.value)}
      />
    </Field>
  );
}

interface ChoiceFieldProps extends FieldProps {
  readonly choices: readonly (readonly [value: string, label: string, state?: "disabled"])[];
}

export function ChoiceField({ choices, usual = choices[0]?.[0] ?? "", ...field }: ChoiceFieldProps) {
  const { request } = usePage();
  const { name } = field;
  const value = request.settings.value[name] ?? usual;
  const known = choices.some(([choice]) => choice === value);
  return (
    <Field {...field} kind="text">
      <select
        {...common(field)}
        value={value}
        onChange={({ currentTarget }) =>
          request.set(name, currentTarget.value === usual ? "" : currentTarget.value)
        }
      >
        {known || <option value={value}>{value}</option>}
        {choices.map(([choice, shown, state]) => (
          <option key={choice} value={choice} disabled={state === "disabled"}>
            {shown}
          </option>
        ))}
      </select>
    </Field>
  );
}

export function CheckField({ usual = "", ...field }: FieldProps) {
  const { request } = usePage();
  const { name } = field;
  return (
    <Field {...field} kind="check">
      <input
        {...common(field)}
        type="checkbox"
        checked={(request.settings.value[name] ?? usual) === "true"}
        onChange={({ currentTarget: { checked } }) =>
          request.set(name, String(checked) === usual ? "" : String(checked))
        }
      />
    </Field>
  );
}

function common({ name, hint }: FieldProps) {
  return { id: idOf(name), "aria-describedby": hint && hintIdOf(name) };
}

const idOf = (name: string) => `setting-${name}`;
const hintIdOf = (name: string) => `setting-${name}-hint`;
