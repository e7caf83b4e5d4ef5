import { expect, test } from "vitest";
import { isNotModified, type NodeRequest } from "../../src/http/message.ts";

const asking = (known: string | undefined) => ({ headers: { "if-none-match": known } }) as NodeRequest;

test.each(['W/"a"', '"a"', '"b", W/"a"', "*", ' "x","a" '])(
  'If-None-Match: %s matches the ETag W/"a"',
  (known) => {
    expect(isNotModified(asking(known), 'W/"a"')).toBe(true);
  },
);

test.each([undefined, "", '"b"', "a", 'W/"a', '"A"', '"*"'])(
  'If-None-Match: %s does not match the ETag W/"a"',
  (known) => {
    expect(isNotModified(asking(known), 'W/"a"')).toBe(false);
  },
);

test("If-None-Match never matches a response without an ETag", () => {
  expect(isNotModified(asking("*"), undefined)).toBe(false);
});
