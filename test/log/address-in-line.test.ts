import { expect, test } from "vitest";
import { createAddressShower } from "../../src/log/call-line.ts";

test.each([
  ["203.0.113.77", "203.0.113.0/24"],
  ["2001:db8:7:9::/64", "2001:db8:7::/48"],
  ["local", "local"],
])("the truncated form of the address %s is %s", (address, network) => {
  const show = createAddressShower("truncated");
  expect([show(address), show("198.51.100.1"), show(address)]).toEqual([network, "198.51.100.0/24", network]);
});

test("the hash of an address is stable for a day, and differs on another server and on the next day", () => {
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

test("the log contains no address or the full address, depending on the setting", () => {
  expect(createAddressShower("none")("203.0.113.77")).toBeUndefined();
  expect(createAddressShower("full")("203.0.113.77")).toBe("203.0.113.77");
});
