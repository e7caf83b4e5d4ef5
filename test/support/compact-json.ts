const widthMax = 116;

/** Formats JSON for people: a value that fits into one line stays on one line. */
export function compactJson(value: unknown, indent = ""): string {
  const line = oneLine(value);
  if (indent.length + line.length <= widthMax || typeof value !== "object" || value === null) {
    return line;
  }
  const inner = `${indent}  `;
  if (Array.isArray(value) && value.every((item) => typeof item !== "object")) {
    return `[\n${filled(value.map(oneLine), inner)}\n${indent}]`;
  }
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

function filled(items: readonly string[], indent: string): string {
  const lines: string[] = [];
  for (const [index, item] of items.entries()) {
    const text = index < items.length - 1 ? `${item},` : item;
    const last = lines.at(-1);
    if (last !== undefined && indent.length + last.length + 1 + text.length <= widthMax) {
      lines[lines.length - 1] = `${last} ${text}`;
    } else {
      lines.push(text);
    }
  }
  return lines.map((line) => indent + line).join("\n");
}
