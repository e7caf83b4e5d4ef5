import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { useState } from "preact/hooks";
import { texts } from "../texts.ts";

interface NodeProps {
  readonly name: string | undefined;
  readonly value: JsonValue;
}

/** How many items of a list are shown at a time. */
const itemsShown = 20;

/** JSON as a tree whose nodes open. What is not open is not made. */
export function Tree({ value }: { readonly value: JsonObject }) {
  return (
    <ul class="tree">
      <Members value={value} />
    </ul>
  );
}

function Node({ name, value }: NodeProps) {
  const [isOpen, setIsOpen] = useState(false);
  if (typeof value !== "object" || value === null || isShort(value)) {
    return (
      <li>
        <Name name={name} />
        <code class={`json-${value === null ? "null" : typeof value}`}>{inline(value)}</code>
      </li>
    );
  }
  const count = Array.isArray(value) ? value.length : Object.keys(value).length;
  return (
    <li>
      <details open={isOpen} onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}>
        <summary>
          <Name name={name} />
          <span class="json-count">
            {Array.isArray(value) ? texts.call.items(count) : texts.call.fields(count)}
          </span>
        </summary>
        {isOpen && (
          <ul>
            <Members value={value} />
          </ul>
        )}
      </details>
    </li>
  );
}

function Members({ value }: { readonly value: JsonObject | JsonValue[] }) {
  const [shown, setShown] = useState(itemsShown);
  const members: readonly (readonly [string, JsonValue])[] = Object.entries(value);
  // An object has the fields that its type has; lists may be long.
  const visible = Array.isArray(value) ? members.slice(0, shown) : members;
  const left = members.length - visible.length;
  return (
    <>
      {visible.map(([name, member]) => (
        <Node key={name} name={name} value={member} />
      ))}
      {left > 0 && (
        <li>
          <button type="button" onClick={() => setShown(shown + itemsShown * 5)}>
            {texts.call.moreItems(left)}
          </button>
        </li>
      )}
    </>
  );
}

function Name({ name }: { readonly name: string | undefined }) {
  return name === undefined ? null : (
    <>
      <code class="json-name">{name}</code>
      {": "}
    </>
  );
}

/** True if the value is short enough for one line. */
function isShort(value: JsonObject | JsonValue[]): boolean {
  const members = Object.values(value);
  return (
    members.every((member) => typeof member !== "object" || member === null) && inline(value).length <= 48
  );
}

function inline(value: JsonValue): string {
  return JSON.stringify(value);
}
