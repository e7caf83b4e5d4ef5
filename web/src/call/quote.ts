import type { JsonValue } from "@bufbuild/protobuf";

const lineMaxCharacters = 92;

/** Invisible characters are escaped, so that nobody copies them without noticing. */
const unseen = /[\u007f-\u009f\p{Cf}\p{Zl}\p{Zp}]/gu;

interface Syntax {
  readonly step: string;
  readonly words: Readonly<Record<string, string>>;
  escape(character: string): string;
}

const json: Syntax = {
  step: "  ",
  words: {},
  escape: (character) =>
    Array.from({ length: character.length }, (_, index) => `\\u${hex(character.charCodeAt(index), 4)}`).join(
      "",
    ),
};

const python: Syntax = {
  step: "    ",
  words: { true: "True", false: "False", null: "None" },
  escape(character) {
    const point = character.codePointAt(0) ?? 0;
    return point > 0xffff ? `\\U${hex(point, 8)}` : `\\u${hex(point, 4)}`;
  },
};

/** Adds line breaks to long JSON. The result is also valid JavaScript. */
export function jsonText(value: JsonValue, indent = ""): string {
  return literal(value, indent, json);
}

export function pythonText(value: JsonValue, indent = ""): string {
  return literal(value, indent, python);
}

export function shellWord(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Returns a raw string of Go. Replaces a backquote with a JSON escape, because a backquote would end the string. */
export function goRawJson(text: string): string {
  return `\`${text.replaceAll("`", "\\u0060")}\``;
}

function literal(value: JsonValue, indent: string, syntax: Syntax): string {
  if (typeof value !== "object" || value === null) {
    const text = JSON.stringify(value);
    return syntax.words[text] ?? text.replace(unseen, syntax.escape);
  }
  const inner = indent + syntax.step;
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  const items = Array.isArray(value)
    ? value.map((item) => literal(item, inner, syntax))
    : Object.entries(value).map(
        ([key, item]) => `${literal(key, inner, syntax)}: ${literal(item, inner, syntax)}`,
      );
  const short = `${open}${items.join(", ")}${close}`;
  return short.length <= lineMaxCharacters && !short.includes("\n")
    ? short
    : `${open}\n${items.map((item) => inner + item).join(",\n")}\n${indent}${close}`;
}

function hex(number: number, digits: number): string {
  return number.toString(16).padStart(digits, "0");
}
