import { expect, test } from "vitest";
import { freezeWhole } from "../../src/text/frozen.ts";

test("plain data is frozen with all its parts, and bytes stay as they are", () => {
  const bytes = Uint8Array.of(1, 2);
  const value = freezeWhole({ list: [{ deep: { deeper: "x" } }], nothing: null, bytes, word: "w" });
  expect([value, value.list, value.list[0], value.list[0]?.deep].every(Object.isFrozen)).toBe(true);
  expect(Object.isFrozen(bytes)).toBe(false);
});
