import { type DescMessage, ScalarType } from "@bufbuild/protobuf";
import { errorFromFaults, type Fault } from "../../errors/errors.ts";
import { pointerStep } from "../../text/json-pointer.ts";
import { echo } from "../../text/plain-text.ts";

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

/**
 * Throws a KibitzError that names all fields which stand in the query of a URL, for calls that read their body
 * alone: without effect, `?depth=5` would be answered at another depth than was asked for.
 */
export function refuseQuery(url: string | undefined): void {
  const start = url?.indexOf("?") ?? -1;
  if (start === -1) {
    return;
  }
  const names = new Set(new URLSearchParams(url?.slice(start + 1)).keys());
  const faults = [...names].map(faultOf);
  if (faults.length > 0) {
    throw errorFromFaults(faults);
  }
}

/** With the place in the body where the field belongs. */
function faultOf(name: string): Fault {
  const pointer = pointerStep(name);
  const message = `This call takes no query parameters, but the URL has \`${echo(name)}\`: put fields in the JSON body instead.`;
  return { pointer, code: "unknown_field", message };
}
