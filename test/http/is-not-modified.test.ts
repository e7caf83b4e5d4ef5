import { expect, test } from "vitest";
import { isNotModified, type NodeRequest } from "../../src/http/message.ts";

const asking = (known: string | undefined) => ({ headers: { "if-none-match": known } }) as NodeRequest;

test.each(['W/"a"', '"a"', '"b", W/"a"', "*", ' "x","a" '])("%s knows W/%j", (known) => {
  expect(isNotModified(asking(known), 'W/"a"')).toBe(true);
});

test.each([undefined, "", '"b"', "a", 'W/"a', '"A"', '"*"'])("%s does not", (known) => {
  expect(isNotModified(asking(known), 'W/"a"')).toBe(false);
});

test("nothing is known of an answer without an ETag", () => {
  expect(isNotModified(asking("*"), undefined)).toBe(false);
});
