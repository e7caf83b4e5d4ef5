import { BlockList, isIP } from "node:net";
import ipaddr from "ipaddr.js";
import type { Log } from "../log/log.ts";

interface Origin {
  readonly address: string;
  /** The X-Forwarded-For header, unchanged. */
  readonly forwardedFor: string | undefined;
}

/**
 * Returns the address of the connection, or behind trusted proxies the right-most forwarded address that is not itself trusted.
 * Addresses further to the left, and all addresses from untrusted peers, may be forged.
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

/** Differs from {@link createClientAddress} in that a trusted proxy itself has no address. */
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

/** Removes the port, which some proxies write: `203.0.113.7:4711`, `[2001:db8::1]:4711`. */
function withoutPort(entry: string): string {
  const [, bracketed, dotted] = /^(?:\[([^\]]*)\](?::\d+)?|([\d.]+):\d+)$/.exec(entry) ?? [];
  return bracketed ?? dotted ?? entry;
}

/** True if an address is one of the given addresses, or in one of the given networks (CIDRs). */
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

/** Sockets for both families (RFC 4291) and NAT64 (RFC 6052) have IPv6 addresses that end with the IPv4 address of the caller. */
const endsWithIPv4 = createNetworkTest(["::ffff:0:0/96", "64:ff9b::/96"]);

/**
 * Returns an IPv4 address itself, or the /64 network of an IPv6 address, because a client that has one address has all others in
 * its /64. The name is stored with the keys that an address gets, so its form must not change.
 */
function nameOf(text: string): string {
  if (isIP(text) !== 6) {
    return text;
  }
  // The zone is removed. `::192.0.2.1` is rewritten, because ipaddr.js would take it for a mapped IPv4 address.
  const address = ipaddr.IPv6.parse(text.replace(/%.*/s, "").replace(/^::(?=\d+\.)/, "0::"));
  return endsWithIPv4(text) ? address.toByteArray().slice(12).join(".") : networkName(address, 4);
}

/** Returns the /48 around a /64 network, because many customers are given a whole /48; undefined for any other name. */
export function widerNetworkOf(name: string): string | undefined {
  return name.endsWith("::/64") ? networkName(ipaddr.IPv6.parseCIDR(name)[0], 3) : undefined;
}

function networkName({ parts }: ipaddr.IPv6, groups: number): string {
  const start = parts.slice(0, groups).map((part) => part.toString(16));
  return `${start.join(":")}::/${groups * 16}`;
}
