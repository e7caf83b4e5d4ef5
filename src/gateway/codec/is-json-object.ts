/** Whether a JSON value is an object: neither an array nor null. */
export function isJsonObject(json: unknown): json is Readonly<Record<string, unknown>> {
  return typeof json === "object" && json !== null && !Array.isArray(json);
}
