const widthMax = 110;

/** JSON for people: what fits into a line stays on one. */
export function compactJson(value: unknown, indent = ""): string {
  const line = oneLine(value);
  if (indent.length + line.length <= widthMax || typeof value !== "object" || value === null) {
    return line;
  }
  const inner = `${indent}  `;
  const items = Array.isArray(value)
    ? value.map((item) => compactJson(item, inner))
    : Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}: ${compactJson(item, inner)}`);
  const [open, close] = Array.isArray(value) ? ["[", "]"] : ["{", "}"];
  return `${open}\n${items.map((item) => inner + item).join(",\n")}\n${indent}${close}`;
}

function oneLine(value: unknown): string {
  if (Array.isArray(value)) {
    return `[${value.map(oneLine).join(", ")}]`;
  }
  if (typeof value === "object" && value !== null) {
    const members = Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}: ${oneLine(item)}`);
    return members.length === 0 ? "{}" : `{ ${members.join(", ")} }`;
  }
  return JSON.stringify(value);
}
