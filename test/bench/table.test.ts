import { expect, test } from "vitest";
import { number, table, withSpread } from "../../bench/service/table.ts";

test("a table is Markdown whose columns are aligned", () => {
  expect(
    table(
      ["", "a minute"],
      [
        ["least", "1,234"],
        ["Kibitz", "12"],
      ],
    ),
  ).toBe(
    ["|        | a minute |", "|--------|---------:|", "| least  |    1,234 |", "| Kibitz |       12 |"].join(
      "\n",
    ),
  );
});

test("figures show the digits that count", () => {
  expect([0.876, 12.345, 456.7, 1234.5, 1_234_567].map(number)).toEqual([
    "0.88",
    "12.3",
    "457",
    "1,235",
    "1,234,567",
  ]);
  expect(withSpread({ median: 0.95, least: 0.9, most: 1 })).toBe("0.95 (0.90 to 1.00)");
  expect(withSpread({ median: 1, least: 1, most: 1 })).toBe("1.00");
  expect(withSpread(undefined)).toBe("-");
});
