import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { describeSettings, loadConfig } from "../../src/wiring/config.ts";
import { isFixed, settingsPage } from "../../tools/settings-page.ts";

const text = readFileSync(new URL("../../docs/settings.md", import.meta.url), "utf8");

test("docs/settings.md lists every setting as src/wiring/settings.ts has it, as `npm run update` writes it", () => {
  expect(text).toBe(settingsPage(text));
  expect(text.match(/^\| `KIBITZ_/gm)).toHaveLength(describeSettings().length);
});

test.each(describeSettings().filter(isFixed))(
  "$key means the same unset and as $default",
  ({ key, default: value }) => {
    expect(loadConfig({ [key]: value })).toEqual(loadConfig({}));
  },
);

test.each(describeSettings().filter((setting) => !isFixed(setting)))(
  "docs/settings.md has words, and no value, for the default of $key",
  ({ key }) => {
    const [, shown] = new RegExp(`^\\| \`${key}\` \\| (.+?) \\|`, "m").exec(text) ?? [];
    expect(shown).not.toMatch(/^`[^`]*`$/);
  },
);
