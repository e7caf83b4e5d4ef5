export type Plain = Readonly<Record<string, unknown>>;

export function isJsonObject(json: unknown): json is Plain {
  return typeof json === "object" && json !== null && !Array.isArray(json);
}
