import { BlockList, isIP } from "node:net";
import type { Log } from "../log/log.ts";

/** The other end of a connection, and what the request says of whom it was forwarded for. */
interface Origin {
  readonly address: string;
  /** The header X-Forwarded-For, verbatim. */
  readonly forwardedFor: string | undefined;
}

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
  const proxies = blockListOf(trusted);
  let warned = false;
  return ({ address, forwardedFor }) => {
    const peer = plainAddress(address);
    if (forwardedFor === undefined) {
      return networkOf(peer);
    }
    if (!contains(proxies, peer)) {
      if (!warned) {
        warned = true;
        log.warn(
          { proxy: peer },
          "a request was forwarded by an untrusted proxy: all callers behind it count as one. If the proxy is yours, name it in KIBITZ_TRUST_PROXY.",
        );
      }
      return networkOf(peer);
    }
    return networkOf(forwardedAddress(forwardedFor, peer, proxies));
  };
}

function forwardedAddress(forwardedFor: string, peer: string, proxies: BlockList): string {
  let nearest = peer;
  for (const entry of forwardedFor.split(",").reverse()) {
    const address = plainAddress(withoutPort(entry.trim()));
    // Whoever wrote this is the last one that is known.
    if (isIP(address) === 0) {
      return nearest;
    }
    nearest = address;
    if (!contains(proxies, address)) {
      return nearest;
    }
  }
  return nearest;
}

function blockListOf(trusted: readonly string[]): BlockList {
  const list = new BlockList();
  for (const one of trusted) {
    const [address = "", prefix] = one.split("/");
    const family = familyOf(address);
    list.addSubnet(address, Number(prefix ?? (family === "ipv4" ? 32 : 128)), family);
  }
  return list;
}

function contains(list: BlockList, address: string): boolean {
  return isIP(address) !== 0 && list.check(address, familyOf(address));
}

function familyOf(address: string): "ipv4" | "ipv6" {
  return isIP(address) === 6 ? "ipv6" : "ipv4";
}

/** Some proxies write the port, too: `203.0.113.7:4711`, `[2001:db8::1]:4711`. */
function withoutPort(entry: string): string {
  const [, bracketed, dotted] = /^(?:\[([^\]]*)\](?::\d+)?|([\d.]+):\d+)$/.exec(entry) ?? [];
  return bracketed ?? dotted ?? entry;
}

/** Without a zone, and an IPv4 address as such, however a socket for both families writes it. */
function plainAddress(address: string): string {
  if (!address.includes(":")) {
    return address;
  }
  const [plain = ""] = address.split("%", 1);
  return /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(plain)?.[1] ?? plain;
}

/** An IPv6 address stands for its /64: whoever has one has all the others in it. */
export function networkOf(address: string): string {
  if (!address.includes(":") || isIP(address) !== 6) {
    return address;
  }
  const [head = "", tail] = address.toLowerCase().split("::", 2);
  const groups = head === "" ? [] : head.split(":");
  if (tail !== undefined) {
    const rest = tail === "" ? [] : tail.split(":");
    // A dotted end stands for two groups.
    const width = rest.length + (tail.includes(".") ? 1 : 0);
    groups.push(...Array.from({ length: 8 - groups.length - width }, () => "0"), ...rest);
  }
  const network = groups.slice(0, 4).map((group) => group.replace(/^0+(?=.)/, ""));
  return `${network.join(":")}::/64`;
}
