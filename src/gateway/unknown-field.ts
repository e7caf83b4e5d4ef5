import type { Fault } from "../errors.ts";
import { echo } from "../plain-text.ts";

/** The fault of a key that no field has, relative to the object that it stands in; with the field that was meant, if that can be guessed. */
export function unknownFieldFault(key: string, names: readonly string[]): Fault {
  const meant = nearestName(key, names);
  const known = names.length > 0 ? `: the fields are ${names.map((name) => `\`${name}\``).join(", ")}.` : ".";
  const hint = meant === undefined ? known : `: did you mean \`${meant}\`?`;
  return { pointer: "", code: "unknown_field", message: `There is no field \`${echo(key)}\` here${hint}` };
}

/** Longer keys are no slip of the pen, and comparing them would take time. */
const guessMaxCharacters = 32;

function nearestName(key: string, names: readonly string[]): string | undefined {
  if (key.length > guessMaxCharacters) {
    return undefined;
  }
  const plain = withoutCase(key);
  const [best] = names
    .map((name) => ({ name, steps: editDistance(plain, withoutCase(name)) }))
    .filter(({ name, steps }) => steps <= Math.min(2, Math.floor(name.length / 3)))
    .sort((a, b) => a.steps - b.steps);
  return best?.name;
}

/** `movetimeMs`, `MoveTime-MS` and `movetime_ms` are one name to most people. */
function withoutCase(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, "");
}

/** Levenshtein's: how many characters to put in, take out or change. */
function editDistance(a: string, b: string): number {
  let above = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const line = [row];
    for (let column = 1; column <= b.length; column++) {
      line[column] = Math.min(
        (line[column - 1] ?? 0) + 1,
        (above[column] ?? 0) + 1,
        (above[column - 1] ?? 0) + (a[row - 1] === b[column - 1] ? 0 : 1),
      );
    }
    above = line;
  }
  return above[b.length] ?? 0;
}
