import { describe, expect, test } from "vitest";
import { createCallerAddress, createClientAddress, widerNetworkOf } from "../../src/access/client-address.ts";

function addressOf(address: string, forwardedFor: string | undefined, trusted: readonly string[] = []) {
  return createClientAddress(trusted, { warn() {} })({ address, forwardedFor });
}

describe("a caller", () => {
  test.each([
    ["192.0.2.1", "192.0.2.1"],
    ["::ffff:192.0.2.1", "192.0.2.1"],
    ["::ffff:cb00:7107", "203.0.113.7"],
    ["::FFFF:CB00:7107", "203.0.113.7"],
    ["0:0:0:0:0:ffff:cb00:7107", "203.0.113.7"],
    ["0000:0000:0000:0000:0000:ffff:203.0.113.7", "203.0.113.7"],
    ["::ffff:192.0.2.1%eth0", "192.0.2.1"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
    ["2001:0db8:0001:0002::1", "2001:db8:1:2::/64"],
    ["2001:DB8::1", "2001:db8:0:0::/64"],
    ["2001:db8:1:2::192.0.2.1", "2001:db8:1:2::/64"],
    ["fe80::1%eth0", "fe80:0:0:0::/64"],
    ["fe80::1%eth0.100", "fe80:0:0:0::/64"],
    ["fe80::1%br-lan", "fe80:0:0:0::/64"],
    ["::1", "0:0:0:0::/64"],
    // Behind a NAT64, every IPv4 address belongs to another caller.
    ["64:ff9b::192.0.2.1", "192.0.2.1"],
    ["64:ff9b::cb00:7107", "203.0.113.7"],
    // These prefixes are deprecated or local, and their addresses need not end with an IPv4 address.
    ["::192.0.2.1", "0:0:0:0::/64"],
    ["64:ff9b:1::192.0.2.1", "64:ff9b:1:0::/64"],
    ["unknown", "unknown"],
    ["7", "7"],
    ["0x7f.1", "0x7f.1"],
  ])("the caller address of %s is %s", (address, expected) => {
    expect(addressOf(address, undefined)).toBe(expected);
  });

  test("all addresses of one IPv6 /64 network are the same caller, and another /64 network is a different caller", () => {
    const find = createClientAddress([], { warn() {} });
    const nameOf = (address: string) => find({ address, forwardedFor: undefined });
    expect(nameOf("2001:db8:1:2::1")).toBe(nameOf("2001:db8:1:2:ffff::9"));
    expect(nameOf("2001:db8:1:2::1")).not.toBe(nameOf("2001:db8:1:3::1"));
  });

  test.each(["198.51.100.7", "a, b", "", "127.0.0.1"])(
    "an untrusted caller cannot change its address with X-Forwarded-For: %j",
    (forwardedFor) => {
      expect(addressOf("192.0.2.1", forwardedFor)).toBe("192.0.2.1");
      expect(addressOf("192.0.2.1", forwardedFor, ["10.0.0.0/8"])).toBe("192.0.2.1");
    },
  );
});

describe("behind trusted proxies", () => {
  const trusted = ["10.0.0.0/8", "2001:db8:ffff::/48", "192.0.2.9", "::ffff:172.16.0.0/112"];
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
    ["10.1.2.3", "::ffff:c633:6407", "198.51.100.7"],
    ["10.1.2.3", "[::ffff:c633:6407]:4711", "198.51.100.7"],
    ["::ffff:a01:203", "198.51.100.7", "198.51.100.7"],
    ["10.1.2.3", "203.0.113.66, ::ffff:a09:909", "203.0.113.66"],
    ["172.16.9.9", "198.51.100.7", "198.51.100.7"],
    ["172.17.0.1", "198.51.100.7", "172.17.0.1"],
    ["10.1.2.3", "198.51.100.7, 7", "10.1.2.3"],
    ["10.1.2.3", "198.51.100.7, 0x0a000001", "10.1.2.3"],
    ["10.1.2.3", "198.51.100.7, nonsense", "10.1.2.3"],
    ["10.1.2.3", "198.51.100.7, nonsense, 10.0.0.2", "10.0.0.2"],
    ["10.1.2.3", "", "10.1.2.3"],
  ])(
    "a request from the trusted proxy %s with X-Forwarded-For %j has the caller address %s",
    (peer, forwardedFor, expected) => {
      expect(addressOf(peer, forwardedFor, trusted)).toBe(expected);
    },
  );
});

test.each([
  ["64:ff9b::/32", "192.0.2.9"],
  ["0.0.0.0/0", "2001:db8:1:2::1"],
])("the trusted network %s does not include %s", (network, peer) => {
  expect(addressOf(peer, "198.51.100.7", [network])).toBe(addressOf(peer, undefined));
});

test.each([
  ["::ffff:0:0/96", "192.0.2.9"],
  ["0.0.0.0/0", "::ffff:c000:209"],
  ["::/0", "2001:db8:1:2::1"],
  ["::/0", "192.0.2.9"],
  ["fe80::/10", "fe80::1%eth0"],
])("the trusted network %s includes %s", (network, peer) => {
  expect(addressOf(peer, "198.51.100.7", [network])).toBe("198.51.100.7");
});

test.each([
  ["10.1.2.3", undefined, undefined],
  ["2001:db8:ffff::1", undefined, undefined],
  ["2001:db8:ffff::1", "2001:db8:1:2::1", "2001:db8:1:2::/64"],
  ["2001:db8:ffff::1", "2001:db8:ffff::2", undefined],
  ["192.0.2.1", "10.1.2.3", "192.0.2.1"],
])(
  "the connections of %s with X-Forwarded-For %j belong to the caller %s",
  (address, forwardedFor, expected) => {
    const callerOf = createCallerAddress(["10.0.0.0/8", "2001:db8:ffff::/48"]);
    expect(callerOf({ address, forwardedFor })).toBe(expected);
  },
);

test("the first request that an untrusted proxy forwards is logged as a warning, and later requests are not logged", () => {
  const warned: unknown[] = [];
  const find = createClientAddress(["10.0.0.1"], { warn: (fields, text) => warned.push(fields, text) });
  find({ address: "10.0.0.1", forwardedFor: "198.51.100.7" });
  find({ address: "192.0.2.1", forwardedFor: undefined });
  expect(warned).toEqual([]);
  find({ address: "192.0.2.1", forwardedFor: "198.51.100.7" });
  find({ address: "192.0.2.2", forwardedFor: "198.51.100.7" });
  expect(warned).toEqual([{ proxy: "192.0.2.1" }, expect.stringContaining("KIBITZ_TRUST_PROXY")]);
});

test.each([
  ["2001:db8:1:2::/64", "2001:db8:1::/48"],
  ["2001:db8:0:0::/64", "2001:db8:0::/48"],
  ["192.0.2.1", undefined],
  ["unknown", undefined],
])("the /48 network around the caller address %s is %s", (name, expected) => {
  expect(widerNetworkOf(name)).toBe(expected);
});
