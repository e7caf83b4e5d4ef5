import { expect, test } from "vitest";
import { createAddressShower } from "../../src/log/call-line.ts";

test.each([
  ["203.0.113.77", "203.0.113.0/24"],
  ["2001:db8:7:9::/64", "2001:db8:7::/48"],
  ["local", "local"],
])("%s is shown as its network, %s", (address, network) => {
  const show = createAddressShower("truncated");
  expect([show(address), show("198.51.100.1"), show(address)]).toEqual([network, "198.51.100.0/24", network]);
});

test("hashes of addresses tell callers apart for a day and on one server, and no longer", () => {
  let now = 0;
  const show = createAddressShower("hashed", () => now);
  const first = show("203.0.113.77");
  expect(first).toMatch(/^[0-9a-f]{16}$/);
  expect(show("203.0.113.77")).toBe(first);
  expect(show("203.0.113.78")).not.toBe(first);
  expect(createAddressShower("hashed", () => now)("203.0.113.77")).not.toBe(first);
  now = 86_400_000;
  expect(show("203.0.113.77")).not.toBe(first);
});

test("the log has no address, or the whole one, if the operator wants that", () => {
  expect(createAddressShower("none")("203.0.113.77")).toBeUndefined();
  expect(createAddressShower("full")("203.0.113.77")).toBe("203.0.113.77");
});
