import type { JsonObject } from "@bufbuild/protobuf";
import { jsonText } from "./quote.ts";

/** Longer JSON is truncated on the page. The review of a long game has ten times as many characters. */
const shownMaxCharacters = 30_000;

const token = /("(?:[^"\\]|\\.)*")(:?)|-?\d[\d.eE+-]*|\b(?:true|false|null)\b/g;

export function JsonView({ value }: { readonly value: JsonObject }) {
  const text = jsonText(value);
  const shown = text.slice(0, shownMaxCharacters);
  const parts = [];
  let end = 0;
  for (const { 0: word, 1: quoted, 2: colon, index } of shown.matchAll(token)) {
    const kind = quoted === undefined ? "value" : colon ? "name" : "string";
    parts.push(shown.slice(end, index), <span class={`json-${kind}`}>{word}</span>);
    end = index + word.length;
  }
  return (
    <pre>
      <code>
        {parts}
        {shown.slice(end)}
        {text.length > shown.length && "\n… Copy the answer to see the rest."}
      </code>
    </pre>
  );
}
