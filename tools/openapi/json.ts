/** A JSON object, such as a JSON Schema or a part of an OpenAPI document. */
export type Json = Readonly<Record<string, unknown>>;

export function refTo(kind: string, name: string): Json {
  return { $ref: `#/components/${kind}/${name}` };
}
