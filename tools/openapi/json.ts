export type Json = Readonly<Record<string, unknown>>;

export function refTo(kind: string, name: string): Json {
  return { $ref: `#/components/${kind}/${name}` };
}
