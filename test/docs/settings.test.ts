import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { describeSettings, loadConfig } from "../../src/wiring/config.ts";
import { isFixed, settingsPage } from "../../tools/settings-page.ts";

const text = readFileSync(new URL("../../docs/settings.md", import.meta.url), "utf8");

test("docs/settings.md is up to date with src/wiring/settings.ts", () => {
  expect(text).toBe(settingsPage(text));
  expect(text.match(/^\| `KIBITZ_/gm)).toHaveLength(describeSettings().length);
});

test.each(describeSettings().filter(isFixed))(
  "the setting $key has the same effect when unset and with the value $default",
  ({ key, default: value }) => {
    expect(loadConfig({ [key]: value })).toEqual(loadConfig({}));
  },
);

test.each(describeSettings().filter((setting) => !isFixed(setting)))(
  "docs/settings.md describes the default of $key in words",
  ({ key }) => {
    const [, shown] = new RegExp(`^\\| \`${key}\` \\| (.+?) \\|`, "m").exec(text) ?? [];
    expect(shown).not.toMatch(/^`[^`]*`$/);
  },
);
