import { BlockList, isIP } from "node:net";
import ipaddr from "ipaddr.js";
import type { Log } from "../log/log.ts";

/** The peer of a connection, and the address that the request says it was forwarded for. */
interface Origin {
  readonly address: string;
  /** The header X-Forwarded-For, verbatim. */
  readonly forwardedFor: string | undefined;
}

/**
 * Finds the address that a caller is known by: that of the connection, or behind trusted proxies the right-most
 * forwarded address that is not itself trusted. Addresses further to the left, and all from untrusted peers, may be forged.
 *
 * @param trusted addresses and CIDRs of proxies
 */
export function createClientAddress(
  trusted: readonly string[],
  log: Pick<Log, "warn">,
): (origin: Origin) => string {
  const isProxy = createProxyTest(trusted);
  let warned = false;
  return (origin) => {
    const { address, forwardedFor } = origin;
    if (!warned && forwardedFor !== undefined && isIP(address) !== 0 && !isProxy(address)) {
      warned = true;
      log.warn(
        { proxy: plainAddress(address) },
        "a request was forwarded by an untrusted proxy: all callers behind it count as one. If the proxy is yours, name it in KIBITZ_TRUST_PROXY.",
      );
    }
    return nameOf(nearestCaller(origin, isProxy));
  };
}

/** Finds the address that a caller is known by, as {@link createClientAddress}; undefined for a trusted proxy itself. */
export function createCallerAddress(trusted: readonly string[]): (origin: Origin) => string | undefined {
  const isProxy = createProxyTest(trusted);
  return (origin) => {
    const address = nearestCaller(origin, isProxy);
    return isProxy(address) ? undefined : nameOf(address);
  };
}

function nearestCaller({ address, forwardedFor }: Origin, isProxy: (address: string) => boolean): string {
  let nearest = address;
  for (const entry of forwardedFor?.split(",").reverse() ?? []) {
    const next = withoutPort(entry.trim());
    // The proxy that forwarded an unreadable address is the last one known.
    if (!isProxy(nearest) || isIP(next) === 0) {
      break;
    }
    nearest = next;
  }
  return nearest;
}

/** Some proxies write the port, too: `203.0.113.7:4711`, `[2001:db8::1]:4711`. */
function withoutPort(entry: string): string {
  const [, bracketed, dotted] = /^(?:\[([^\]]*)\](?::\d+)?|([\d.]+):\d+)$/.exec(entry) ?? [];
  return bracketed ?? dotted ?? entry;
}

/**
 * Tests if an address is that of a trusted proxy.
 *
 * @param trusted addresses and CIDRs
 * @throws TypeError if one of them is neither
 */
export function createProxyTest(trusted: readonly string[]): (address: string) => boolean {
  // Apart, because a BlockList takes an IPv4 address for one of IPv6, too: trust in `::/0` is none in IPv4.
  const proxies = { 4: new BlockList(), 6: new BlockList() };
  for (const text of trusted) {
    const [start = "", prefix] = text.split("/");
    const address = plainAddress(start);
    const bits = Number(prefix ?? (start.includes(":") ? 128 : 32));
    if (isIP(address) === 0) {
      throw new TypeError(`${text} is neither an address nor a network`);
    }
    if (!start.includes(":")) {
      proxies[4].addSubnet(address, bits, "ipv4");
    } else if (isIP(address) === 4 && bits >= 96) {
      proxies[4].addSubnet(address, bits - 96, "ipv4");
    } else {
      proxies[6].addSubnet(withoutZone(start), bits, "ipv6");
    }
  }
  return (text) => {
    const address = plainAddress(text);
    switch (isIP(address)) {
      case 4:
        return proxies[4].check(address, "ipv4");
      case 6:
        return proxies[6].check(address, "ipv6");
      default:
        return false;
    }
  };
}

/**
 * An IPv4 address stands for itself, an IPv6 address for its /64, because a client that has one has all the others in it. The form
 * is stored with the keys that an address was issued.
 */
function nameOf(text: string): string {
  const address = plainAddress(text);
  return isIP(address) === 6 ? networkName(ipv6From(address), 4) : address;
}

/** The /48 around a /64 as {@link createClientAddress} names it: many customers are given one. Undefined for others. */
export function widerNetworkOf(name: string): string | undefined {
  return name.endsWith("::/64") ? networkName(ipaddr.IPv6.parseCIDR(name)[0], 3) : undefined;
}

function networkName({ parts }: ipaddr.IPv6, groups: number): string {
  const start = parts.slice(0, groups).map((part) => part.toString(16));
  return `${start.join(":")}::/${groups * 16}`;
}

/** The address without its zone; an IPv4 address as such, however it is written. Other text is returned as it is. */
function plainAddress(text: string): string {
  if (isIP(text) !== 6) {
    return text;
  }
  const address = ipv6From(text);
  return hasIPv4Behind(address)
    ? new ipaddr.IPv4(address.toByteArray().slice(12)).toString()
    : withoutZone(text);
}

const withoutZone = (text: string) => text.replace(/%.*/s, "");

/** ipaddr.js knows few zones, and takes `::192.0.2.1` for a mapped IPv4 address. */
function ipv6From(text: string): ipaddr.IPv6 {
  return ipaddr.IPv6.parse(withoutZone(text).replace(/^::(?=\d+\.)/, "0::"));
}

/** If the address is that of a socket for both families (RFC 4291), or of a NAT64 (RFC 6052), an IPv4 address follows 96 bits. */
function hasIPv4Behind(address: ipaddr.IPv6): boolean {
  const [first, second, ...rest] = address.parts;
  const isNat64 = first === 0x64 && second === 0xff9b && rest.slice(0, 4).every((part) => part === 0);
  return isNat64 || address.isIPv4MappedAddress();
}
