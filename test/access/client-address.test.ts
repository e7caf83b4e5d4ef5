import { describe, expect, test } from "vitest";
import { createClientAddress, networkOf } from "../../src/access/client-address.ts";

function addressOf(address: string, forwardedFor: string | undefined, trusted: readonly string[] = []) {
  return createClientAddress(trusted, { warn() {} })({ address, forwardedFor });
}

describe("a caller", () => {
  test.each([
    ["192.0.2.1", "192.0.2.1"],
    ["::ffff:192.0.2.1", "192.0.2.1"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
    ["2001:0db8:0001:0002::1", "2001:db8:1:2::/64"],
    ["2001:DB8::1", "2001:db8:0:0::/64"],
    ["fe80::1%eth0", "fe80:0:0:0::/64"],
    ["::1", "0:0:0:0::/64"],
    ["64:ff9b::192.0.2.1", "64:ff9b:0:0::/64"],
    ["unknown", "unknown"],
  ])("at %s is known as %s", (address, expected) => {
    expect(addressOf(address, undefined)).toBe(expected);
  });

  test("has one name for all addresses of its /64, and another beyond it", () => {
    expect(networkOf("2001:db8:1:2::1")).toBe(networkOf("2001:db8:1:2:ffff::9"));
    expect(networkOf("2001:db8:1:2::1")).not.toBe(networkOf("2001:db8:1:3::1"));
  });

  test.each(["198.51.100.7", "a, b", "", "127.0.0.1"])(
    "who is no trusted proxy changes nothing by forwarding for %j",
    (forwardedFor) => {
      expect(addressOf("192.0.2.1", forwardedFor)).toBe("192.0.2.1");
      expect(addressOf("192.0.2.1", forwardedFor, ["10.0.0.0/8"])).toBe("192.0.2.1");
    },
  );
});

describe("behind trusted proxies", () => {
  const trusted = ["10.0.0.0/8", "2001:db8:ffff::/48", "192.0.2.9"];
  test.each([
    ["10.1.2.3", "198.51.100.7", "198.51.100.7"],
    ["::ffff:10.1.2.3", "198.51.100.7", "198.51.100.7"],
    ["192.0.2.9", "198.51.100.7", "198.51.100.7"],
    ["2001:db8:ffff::1", "2001:db8:1:2::1", "2001:db8:1:2::/64"],
    ["10.1.2.3", "203.0.113.66, 198.51.100.7", "198.51.100.7"],
    ["10.1.2.3", "203.0.113.66,198.51.100.7, 10.9.9.9", "198.51.100.7"],
    ["10.1.2.3", "198.51.100.7:4711", "198.51.100.7"],
    ["10.1.2.3", "[2001:db8:1:2::1]:4711", "2001:db8:1:2::/64"],
    ["10.1.2.3", "10.0.0.1, 10.0.0.2", "10.0.0.1"],
    ["10.1.2.3", "198.51.100.7, nonsense", "10.1.2.3"],
    ["10.1.2.3", "198.51.100.7, nonsense, 10.0.0.2", "10.0.0.2"],
    ["10.1.2.3", "", "10.1.2.3"],
  ])("%s that forwards for %j speaks for %s", (peer, forwardedFor, expected) => {
    expect(addressOf(peer, forwardedFor, trusted)).toBe(expected);
  });
});

test("the first request that a proxy forwards without being trusted is warned of, once", () => {
  const warned: unknown[] = [];
  const find = createClientAddress(["10.0.0.1"], { warn: (fields, text) => warned.push(fields, text) });
  find({ address: "10.0.0.1", forwardedFor: "198.51.100.7" });
  find({ address: "192.0.2.1", forwardedFor: undefined });
  expect(warned).toEqual([]);
  find({ address: "192.0.2.1", forwardedFor: "198.51.100.7" });
  find({ address: "192.0.2.2", forwardedFor: "198.51.100.7" });
  expect(warned).toEqual([{ proxy: "192.0.2.1" }, expect.stringContaining("KIBITZ_TRUST_PROXY")]);
});
