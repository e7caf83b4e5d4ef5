import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { describeSettings, loadConfig } from "../../src/wiring/config.ts";

const text = readFileSync(new URL("../../docs/settings.md", import.meta.url), "utf8");
const rows = [...text.matchAll(/^\| `(KIBITZ_\w+)` \| (.+?) \| (.+) \|$/gm)].map(
  ([, key = "", shown = "", meaning = ""]) => ({ key, shown, meaning }),
);

/** Defaults that this machine decides. */
const ofTheMachine = ["KIBITZ_SLOTS", "KIBITZ_ENGINE_MEMORY_MB"];
const isFixed = ({ key, default: value }: { readonly key: string; readonly default: string }) =>
  value !== "(unset)" && !ofTheMachine.includes(key);

describe("docs/settings.md", () => {
  test("docs/settings.md lists every setting, in the order of settings.ts, and nothing else", () => {
    expect(rows.map(({ key }) => key)).toEqual(describeSettings().map(({ key }) => key));
    expect(text.match(/^\| `/gm)).toHaveLength(rows.length);
  });

  test.each(describeSettings())(
    "docs/settings.md says what $key means, as serve --help does",
    ({ key, about }) => {
      expect(rows.find((row) => row.key === key)?.meaning.split(". ")[0]).toBe(about);
    },
  );

  test.each(describeSettings().filter(isFixed))(
    "docs/settings.md says that $key is $default by default",
    (setting) => {
      const { key, default: value } = setting;
      expect(rows.find((row) => row.key === key)?.shown).toBe(`\`${value}\``);
      expect(loadConfig({ [key]: value })).toEqual(loadConfig({}));
    },
  );

  test.each(describeSettings().filter((setting) => !isFixed(setting)))(
    "docs/settings.md has words, and no value, for the default of $key",
    ({ key }) => {
      expect(rows.find((row) => row.key === key)?.shown).not.toMatch(/^`[^`]*`$/);
    },
  );
});
