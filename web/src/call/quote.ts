import type { JsonValue } from "@bufbuild/protobuf";

/**
 * Texts of others as literals of shells and languages. What cannot be seen, or turns the direction of what is read, is
 * escaped, so that nobody copies other than they see.
 */

/** The characters that fit in a line of a usual window. */
const lineMaxCharacters = 92;

/** Controls, formats such as those of direction, and the line ends that JSON lets pass. */
const unseen = /[\u007f-\u009f\p{Cf}\p{Zl}\p{Zp}]/gu;

/** JSON, in lines where it is long. JavaScript reads it as well. */
export function jsonText(value: JsonValue, indent = ""): string {
  const short = JSON.stringify(value);
  const text =
    short.length <= lineMaxCharacters
      ? short
      : JSON.stringify(value, null, 2).replaceAll("\n", `\n${indent}`);
  return text.replace(unseen, (character) =>
    Array.from({ length: character.length }, (_, index) => `\\u${hex(character.charCodeAt(index), 4)}`).join(
      "",
    ),
  );
}

/** One word of a POSIX shell. */
export function shellWord(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** A raw string of Go that holds JSON. The backquote that would end it can only stand in a string of the JSON. */
export function goRawJson(json: string): string {
  return `\`${json.replaceAll("`", "\\u0060")}\``;
}

/** An expression of Python. */
export function pythonText(value: JsonValue, indent = ""): string {
  if (typeof value === "string") {
    return JSON.stringify(value).replace(unseen, pythonEscape);
  }
  if (typeof value === "boolean") {
    return value ? "True" : "False";
  }
  if (value === null) {
    return "None";
  }
  if (typeof value === "number") {
    return String(value);
  }
  const inner = `${indent}    `;
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  const items = Array.isArray(value)
    ? value.map((item) => pythonText(item, inner))
    : Object.entries(value).map(([key, item]) => `${pythonText(key)}: ${pythonText(item, inner)}`);
  const short = `${open}${items.join(", ")}${close}`;
  return short.length <= lineMaxCharacters && !short.includes("\n")
    ? short
    : `${open}\n${items.map((item) => `${inner}${item},\n`).join("")}${indent}${close}`;
}

function pythonEscape(character: string): string {
  const point = character.codePointAt(0) ?? 0;
  return point > 0xffff ? `\\U${hex(point, 8)}` : `\\u${hex(point, 4)}`;
}

function hex(number: number, digits: number): string {
  return number.toString(16).padStart(digits, "0");
}
