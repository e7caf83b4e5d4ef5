import { expect, test } from "vitest";
import { echo, nameOfJson, quote } from "../../src/text/echo.ts";

test("control characters are removed from a caller's text in error messages", () => {
  expect(echo("a\u009b31m\u007f\u2028\u202eb\n\u001b")).toBe("a\\u009b31m\\u007f\\u2028\\u202eb\\n\\u001b");
  expect(echo("Läufer schlägt ♔")).toBe("Läufer schlägt ♔");
  expect(echo("e4\u00ad\u034f\u180e\u2800\u3164\ufe0f\ufeff\u{e0001}")).toBe(
    "e4\\u00ad\\u034f\\u180e\\u2800\\u3164\\ufe0f\\ufeff\\udb40\\udc01",
  );
});

test.each([
  ["null", "null"],
  ["[14]", "an array"],
  ['{"a":14}', "an object"],
  ["9007199254740991", "9007199254740991"],
  ["12345678901234567891", "a number that large"],
  ["-1e400", "a number that far below zero"],
])("an error message shows the JSON value %s as %s", (text, shown) => {
  expect(nameOfJson(JSON.parse(text))).toBe(shown);
});

test.each([`"`, "'", "`"] as const)(
  "a text of more than 64 characters is cut at 64, and the ellipsis stands outside of the quotation marks %s",
  (mark) => {
    const most = "y".repeat(64);
    expect(echo(most, mark)).toBe(`${mark}${most}${mark}`);
    expect(echo(`${most}y`, mark)).toBe(`${mark}${most}${mark}…`);
    expect([quote(most), quote(`${most}y`)]).toEqual([`'${most}'`, `'${most}'…`]);
    expect(nameOfJson(`${most}y`)).toBe(`"${most}"…`);
    // The cut does not leave half of a character.
    expect(echo(`${"y".repeat(63)}😀`, mark)).toBe(`${mark}${"y".repeat(63)}${mark}…`);
  },
);

test("a text without quotation marks has at most 64 characters, with its ellipsis", () => {
  expect(echo("y".repeat(65))).toBe(`${"y".repeat(63)}…`);
});
