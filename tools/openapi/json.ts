/** Any JSON object, such as a JSON Schema or a part of an OpenAPI document. */
export type Json = Readonly<Record<string, unknown>>;

/** The reference to a part of the document: `refTo("schemas", "Move")`. */
export function refTo(kind: string, name: string): Json {
  return { $ref: `#/components/${kind}/${name}` };
}
