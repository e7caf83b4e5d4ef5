import { isIP } from "node:net";
import ipaddr from "ipaddr.js";
import { LRUCache } from "lru-cache";
import type { Log } from "../log/log.ts";

/** The other end of a connection, and what the request says of whom it was forwarded for. */
interface Origin {
  readonly address: string;
  /** The header X-Forwarded-For, verbatim. */
  readonly forwardedFor: string | undefined;
}

type Address = ipaddr.IPv4 | ipaddr.IPv6;

/** An address, and what its caller is known by. */
interface Named {
  readonly address: Address;
  readonly name: string;
}

/** Addresses that were read lately: to read one that has colons takes a microsecond. */
const keptMax = 2000;

/**
 * Finds the address that a caller is known by: that of the connection, or behind trusted proxies the right-most
 * forwarded one that is not itself trusted. What stands further to the left, or comes from anybody else, is only
 * the caller's word.
 *
 * @param trusted addresses and CIDRs of proxies.
 */
export function createClientAddress(
  trusted: readonly string[],
  log: Pick<Log, "warn">,
): (origin: Origin) => string {
  const proxies = trusted.map(networkFrom);
  const kept = new LRUCache<string, Named>({ max: keptMax });
  let warned = false;

  /** Undefined where the text is no address. */
  function named(text: string): Named | undefined {
    const before = kept.get(text);
    if (before) {
      return before;
    }
    const address = addressFrom(text);
    const found = address && { address, name: nameOf(address) };
    // A zone can be of any length.
    if (found && text.length < 64) {
      kept.set(text, found);
    }
    return found;
  }

  const isProxy = ({ address }: Named) => proxies.some((network) => contains(network, address));

  function forwarded(forwardedFor: string, peer: Named): Named {
    let nearest = peer;
    for (const entry of forwardedFor.split(",").reverse()) {
      const next = named(withoutPort(entry.trim()));
      // Whoever wrote what cannot be read is the last one that is known.
      if (next === undefined) {
        return nearest;
      }
      nearest = next;
      if (!isProxy(next)) {
        return nearest;
      }
    }
    return nearest;
  }

  return ({ address, forwardedFor }) => {
    const peer = named(address);
    if (peer === undefined || forwardedFor === undefined) {
      return peer?.name ?? address;
    }
    if (isProxy(peer)) {
      return forwarded(forwardedFor, peer).name;
    }
    if (!warned) {
      warned = true;
      log.warn(
        { proxy: peer.address.toString() },
        "a request was forwarded by an untrusted proxy: all callers behind it count as one. If the proxy is yours, name it in KIBITZ_TRUST_PROXY.",
      );
    }
    return peer.name;
  };
}

/** Finds the address that a caller is known by, as {@link createClientAddress}; undefined for a trusted proxy itself. */
export function createCallerAddress(trusted: readonly string[]): (origin: Origin) => string | undefined {
  const clientAddress = createClientAddress(trusted, { warn() {} });
  const isProxy = createProxyTest(trusted);
  return (origin) => {
    const address = clientAddress(origin);
    return isProxy(address) ? undefined : address;
  };
}

/** Tells the addresses of trusted proxies from others. */
export function createProxyTest(trusted: readonly string[]): (address: string) => boolean {
  const proxies = trusted.map(networkFrom);
  return (text) => {
    const address = proxies.length === 0 ? undefined : addressFrom(text);
    return address !== undefined && proxies.some((network) => contains(network, address));
  };
}

/**
 * An IPv4 address stands for itself, an IPv6 address for its /64: whoever has one has all the others in it. The form
 * is stored with the keys that an address was issued.
 */
function nameOf(address: Address): string {
  return address.kind() === "ipv4" ? address.toString() : networkName(address as ipaddr.IPv6, 4);
}

/** The /48 around a /64 as {@link createClientAddress} names it: many a customer is given one. Undefined for others. */
export function widerNetworkOf(name: string): string | undefined {
  return name.endsWith("::/64") ? networkName(ipaddr.IPv6.parseCIDR(name)[0], 3) : undefined;
}

function networkName({ parts }: ipaddr.IPv6, groups: number): string {
  const start = parts.slice(0, groups).map((part) => part.toString(16));
  return `${start.join(":")}::/${groups * 16}`;
}

/** Without its zone, and an IPv4 address as such, however it is written. Undefined where the text is no address. */
function addressFrom(text: string): Address | undefined {
  // ipaddr.js takes `7` and `0x7f.1` for addresses, too, knows few zones, and takes `::192.0.2.1` for a mapped one.
  switch (isIP(text)) {
    case 4:
      return ipaddr.IPv4.parse(text);
    case 6: {
      const address = ipaddr.IPv6.parse(text.replace(/%.*/s, "").replace(/^::(?=\d+\.)/, "0::"));
      return hasIPv4Behind(address) ? new ipaddr.IPv4(address.toByteArray().slice(12)) : address;
    }
    default:
      return undefined;
  }
}

/** Of a socket for both families (RFC 4291), or of a NAT64 (RFC 6052): behind 96 bits stands an IPv4 address. */
function hasIPv4Behind(address: ipaddr.IPv6): boolean {
  const [first, second, ...rest] = address.parts;
  const isNat64 = first === 0x64 && second === 0xff9b && rest.slice(0, 4).every((part) => part === 0);
  return isNat64 || address.isIPv4MappedAddress();
}

interface Network {
  readonly start: Address;
  /** Of its mask. */
  readonly bits: number;
}

/** @throws TypeError */
function networkFrom(text: string): Network {
  const [address = "", prefix] = text.split("/");
  const start = addressFrom(address);
  if (start === undefined) {
    throw new TypeError(`${text} is neither an address nor a network`);
  }
  const isLong = address.includes(":");
  const bits = Number(prefix ?? (isLong ? 128 : 32));
  if (!isLong || start.kind() === "ipv6") {
    return { start, bits };
  }
  // A network around the 96 bits is more than IPv4: it is no reason to trust all of that.
  return bits < 96 ? { start: ipaddr.IPv6.parse(address), bits } : { start, bits: bits - 96 };
}

function contains({ start, bits }: Network, address: Address): boolean {
  return start.kind() === address.kind() && address.match(start, bits);
}

/** Some proxies write the port, too: `203.0.113.7:4711`, `[2001:db8::1]:4711`. */
function withoutPort(entry: string): string {
  const [, bracketed, dotted] = /^(?:\[([^\]]*)\](?::\d+)?|([\d.]+):\d+)$/.exec(entry) ?? [];
  return bracketed ?? dotted ?? entry;
}
