/** Updates `docs/settings.md`. Replaces only the first sentence of a description. Keeps defaults that depend on the machine. */
import { readFileSync, writeFileSync } from "node:fs";
import { describeSettings } from "../src/wiring/config.ts";

const file = new URL("../docs/settings.md", import.meta.url);

const ofTheMachine = ["KIBITZ_SLOTS", "KIBITZ_ENGINE_MEMORY_MB"];

export function isFixed({
  key,
  default: value,
}: {
  readonly key: string;
  readonly default: string;
}): boolean {
  return value !== "(unset)" && !ofTheMachine.includes(key);
}

export function settingsPage(text = readFileSync(file, "utf8")): string {
  const [before = "", ...rest] = text.split(/(?<=^\|---\|---\|---\|\n)/m);
  const [, after = ""] = /^(?:\| `.*\n)*([\s\S]*)$/.exec(rest.join("")) ?? [];
  const rows = describeSettings().map((setting) => {
    const { key, about, default: value } = setting;
    const [, shown = "none", meaning = ""] =
      new RegExp(`^\\| \`${key}\` \\| (.+?) \\| (.+) \\|$`, "m").exec(text) ?? [];
    const more = meaning.includes(". ") ? meaning.slice(meaning.indexOf(". ")) : "";
    return `| \`${key}\` | ${isFixed(setting) ? `\`${value}\`` : shown} | ${about}${more} |\n`;
  });
  return before + rows.join("") + after;
}

if (import.meta.main) {
  writeFileSync(file, settingsPage());
}
