import { BlockList, isIP } from "node:net";
import ipaddr from "ipaddr.js";
import type { Log } from "../log/log.ts";

interface Origin {
  readonly address: string;
  readonly forwardedFor: string | undefined;
}

/**
 * Returns the last address in X-Forwarded-For that is not a trusted proxy, because clients can forge earlier addresses.
 * Without a trusted proxy, returns the address of the connection.
 */
export function createClientAddress(
  trusted: readonly string[],
  log: Pick<Log, "warn">,
): (origin: Origin) => string {
  const isProxy = createNetworkTest(trusted);
  let warned = false;
  return (origin) => {
    const { address, forwardedFor } = origin;
    if (!warned && forwardedFor !== undefined && isIP(address) !== 0 && !isProxy(address)) {
      warned = true;
      log.warn(
        { proxy: address },
        "a request was forwarded by an untrusted proxy: all callers behind it count as one. If the proxy is yours, name it in KIBITZ_TRUST_PROXY.",
      );
    }
    return nameOf(nearestCaller(origin, isProxy));
  };
}

/** Like {@link createClientAddress}, but returns undefined if the caller is a trusted proxy. */
export function createCallerAddress(trusted: readonly string[]): (origin: Origin) => string | undefined {
  const isProxy = createNetworkTest(trusted);
  return (origin) => {
    const address = nearestCaller(origin, isProxy);
    return isProxy(address) ? undefined : nameOf(address);
  };
}

function nearestCaller({ address, forwardedFor }: Origin, isProxy: (address: string) => boolean): string {
  let nearest = address;
  for (const entry of forwardedFor?.split(",").reverse() ?? []) {
    const next = withoutPort(entry.trim());
    // If a proxy forwards an unreadable address, that proxy is the last known address.
    if (!isProxy(nearest) || isIP(next) === 0) {
      break;
    }
    nearest = next;
  }
  return nearest;
}

/** Removes the port that some proxies append: `203.0.113.7:4711`, `[2001:db8::1]:4711`. */
function withoutPort(entry: string): string {
  const [, bracketed, dotted] = /^(?:\[([^\]]*)\](?::\d+)?|([\d.]+):\d+)$/.exec(entry) ?? [];
  return bracketed ?? dotted ?? entry;
}

/** Returns a function that tests if an address is in one of the `networks`. Each network is an address or a CIDR. */
export function createNetworkTest(networks: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const text of networks) {
    const [start = "", prefix] = text.split("/");
    if (prefix === undefined) {
      list.addAddress(start, familyOf(start));
    } else {
      list.addSubnet(start, Number(prefix), familyOf(start));
    }
  }
  return (address) => isIP(address) !== 0 && list.check(address, familyOf(address));
}

const familyOf = (address: string) => (isIP(address) === 4 ? "ipv4" : "ipv6");

/** IPv6 addresses that contain the caller's IPv4 address in their last 32 bits: IPv4-mapped (RFC 4291) and NAT64 (RFC 6052). */
const endsWithIPv4 = createNetworkTest(["::ffff:0:0/96", "64:ff9b::/96"]);

/**
 * Returns the /64 network of an IPv6 address, because one client can use every address of a /64.
 * The result must not change its format, because the store contains old results.
 */
function nameOf(text: string): string {
  if (isIP(text) !== 6) {
    return text;
  }
  // Remove the zone. Rewrite `::192.0.2.1`, which ipaddr.js would read as an IPv4-mapped address.
  const address = ipaddr.IPv6.parse(text.replace(/%.*/s, "").replace(/^::(?=\d+\.)/, "0::"));
  return endsWithIPv4(text) ? address.toByteArray().slice(12).join(".") : networkName(address, 4);
}

/** Returns the /48 network that contains a /64 network. Returns undefined for an IPv4 address. */
export function widerNetworkOf(name: string): string | undefined {
  return name.endsWith("::/64") ? networkName(ipaddr.IPv6.parseCIDR(name)[0], 3) : undefined;
}

function networkName({ parts }: ipaddr.IPv6, groups: number): string {
  const start = parts.slice(0, groups).map((part) => part.toString(16));
  return `${start.join(":")}::/${groups * 16}`;
}
