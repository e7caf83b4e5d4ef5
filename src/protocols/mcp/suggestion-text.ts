import type { Plain } from "./caller.ts";
import type { Tool } from "./tool.ts";

/** Most characters of a call that is told in full, and of what is other in one that is longer. */
export const suggestionMaxCharacters = 1200;

/**
 * The call of a tool that would be answered, in words: of a long one what is other than in the call that was refused.
 * Undefined where that is long, too.
 */
export function suggestionText(tool: Tool, suggested: Plain, sent: Plain): string | undefined {
  const whole = JSON.stringify(suggested);
  const change = whole.length <= suggestionMaxCharacters ? ` ${whole}` : changeText(tool, suggested, sent);
  return change && `This call would be answered: ${tool.name}${change}`;
}

function changeText({ inputSchema }: Tool, suggested: Plain, sent: Plain): string | undefined {
  const other: Record<string, unknown> = {};
  const cuts: string[] = [];
  for (const [name, value] of Object.entries(suggested)) {
    const before = sent[name] ?? inputSchema.properties[name]?.default;
    const text = JSON.stringify(value);
    if (text === JSON.stringify(before)) {
      continue;
    }
    const cut = text.length > suggestionMaxCharacters / 2 ? cutText(name, value, before) : undefined;
    if (cut) {
      cuts.push(cut);
    } else {
      other[name] = value;
    }
  }
  const gone = Object.keys(sent).filter((name) => sent[name] !== null && !(name in suggested));
  const changes = [
    ...(Object.keys(other).length > 0 ? [`with ${JSON.stringify(other)}`] : []),
    ...cuts,
    ...(gone.length > 0 ? [`without ${gone.map((name) => `\`${name}\``).join(", ")}`] : []),
  ].join(", ");
  return changes.length <= suggestionMaxCharacters ? `, the same call ${changes}` : undefined;
}

/** Where a value is the beginning of the one before. */
function cutText(name: string, value: unknown, before: unknown): string | undefined {
  if (typeof value === "string" && typeof before === "string" && before.startsWith(value)) {
    return `with the first ${value.length} characters of \`${name}\` alone`;
  }
  const isCut =
    Array.isArray(value) &&
    Array.isArray(before) &&
    JSON.stringify(before.slice(0, value.length)) === JSON.stringify(value);
  return isCut ? `with the first ${value.length} of \`${name}\` alone` : undefined;
}
