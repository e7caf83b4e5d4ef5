import { type DescMessage, ScalarType } from "@bufbuild/protobuf";

/**
 * The reader of a query string as the plain JSON that says the same, for the reader of the message type:
 * text becomes a number or a boolean where a field is one. What is neither stays text, and what is
 * repeated becomes an array, so that the message reader refuses it as it refuses such JSON.
 */
export function createQueryReader(desc: DescMessage): (query: string) => Readonly<Record<string, unknown>> {
  const fields = new Map(desc.fields.map((field) => [field.name, field]));
  return (query) => {
    // Without a prototype, `__proto__` is a name like any other.
    const values: Record<string, unknown> = Object.create(null);
    for (const [name, text] of query === "" ? [] : new URLSearchParams(query)) {
      const field = fields.get(name);
      const value = valueFromText(text, field?.scalar);
      const earlier = values[name];
      if (Array.isArray(earlier)) {
        earlier.push(value);
      } else if (earlier !== undefined) {
        values[name] = [earlier, value];
      } else {
        values[name] = field?.fieldKind === "list" ? [value] : value;
      }
    }
    return values;
  };
}

/** An integer as everyone writes it: no sign but minus, no leading zero, fraction or exponent. */
const integer = /^(?:0|-?[1-9]\d*)$/;

function valueFromText(text: string, type: ScalarType | undefined): unknown {
  switch (type) {
    case undefined:
    case ScalarType.STRING:
      return text;
    case ScalarType.BOOL:
      return text === "true" ? true : text === "false" ? false : text;
    default:
      return integer.test(text) ? Number(text) : text;
  }
}
