import { isIP } from "node:net";
import ipaddr from "ipaddr.js";
import type { Log } from "../log/log.ts";

/** The peer of a connection, and the addresses that the request says it was forwarded for. */
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
    const peer = readAddress(origin.address);
    if (!warned && origin.forwardedFor !== undefined && peer && !isProxy(origin.address)) {
      warned = true;
      log.warn(
        { proxy: peer.toString() },
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

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Network = [start: Address, bits: number];

/**
 * Tests if an address is that of a trusted proxy.
 *
 * @param trusted addresses and CIDRs
 * @throws TypeError if one of them is neither
 */
export function createProxyTest(trusted: readonly string[]): (address: string) => boolean {
  const networks = trusted.map(networkFrom);
  return (text) => {
    const address = readAddress(text);
    return address !== undefined && ipaddr.subnetMatch(address, { trusted: networks }, "other") === "trusted";
  };
}

function networkFrom(text: string): Network {
  const [start = "", prefix] = text.split("/");
  const address = readAddress(start);
  if (address === undefined) {
    throw new TypeError(`${text} is neither an address nor a network`);
  }
  if (isIP(start) === 4) {
    return [address, Number(prefix ?? 32)];
  }
  const bits = Number(prefix ?? 128);
  const isIPv4 = address instanceof ipaddr.IPv4 && bits >= ipv4Prefix;
  return isIPv4 ? [address, bits - ipv4Prefix] : [ipv6From(start), bits];
}

/**
 * An IPv4 address stands for itself, an IPv6 address for its /64, because a client that has one has all the others in it. The form
 * is stored with the keys that an address was issued.
 */
function nameOf(text: string): string {
  const address = readAddress(text);
  return address instanceof ipaddr.IPv6 ? networkName(address, 4) : (address?.toString() ?? text);
}

/** The /48 around a /64 as {@link createClientAddress} names it: many customers are given one. Undefined for others. */
export function widerNetworkOf(name: string): string | undefined {
  return name.endsWith("::/64") ? networkName(ipaddr.IPv6.parseCIDR(name)[0], 3) : undefined;
}

function networkName({ parts }: ipaddr.IPv6, groups: number): string {
  const start = parts.slice(0, groups).map((part) => part.toString(16));
  return `${start.join(":")}::/${groups * 16}`;
}

/** IPv6 addresses whose last 32 bits are an IPv4 address: those of sockets for both families (RFC 4291), and of a NAT64 (RFC 6052). */
const ipv4Networks = ["::ffff:0:0", "64:ff9b::"].map((start) => ipaddr.IPv6.parse(start));
const ipv4Prefix = 96;

/** An IPv4 address is read as such, however it is written. Undefined if the text is no address. */
function readAddress(text: string): Address | undefined {
  switch (isIP(text)) {
    case 4:
      return ipaddr.IPv4.parse(text);
    case 6: {
      const address = ipv6From(text);
      const isIPv4 = ipv4Networks.some((network) => address.match(network, ipv4Prefix));
      return isIPv4 ? new ipaddr.IPv4(address.toByteArray().slice(12)) : address;
    }
    default:
      return undefined;
  }
}

/** Zones are left out. ipaddr.js takes `::192.0.2.1` for a mapped IPv4 address. */
function ipv6From(text: string): ipaddr.IPv6 {
  return ipaddr.IPv6.parse(text.replace(/%.*/s, "").replace(/^::(?=\d+\.)/, "0::"));
}
