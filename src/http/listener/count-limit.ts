import type { Log } from "../../log/log.ts";
import { now } from "../../time/time.ts";

export type FullLimit = "holder" | "all";

const byProxy =
  "If it is a proxy of yours, name it in KIBITZ_TRUST_PROXY; KIBITZ_CONNECTIONS_PER_ADDRESS sets how many it may";

const warnings = {
  connections: {
    holder: `an address holds as many connections as it may: more are closed. ${byProxy} hold`,
    all: "all connections are taken: more are closed",
  },
  probes: {
    holder: "an address has as many health probes under way as it may: more are reset",
    all: "as many health probes are under way as the service takes: more are reset",
  },
  tools: {
    holder: "an address has as many calls of health and reflection under way as it may: more are refused",
    all: "as many calls of health and reflection are under way as the service takes: more are refused",
  },
  pages: {
    holder: "an address has as many pages under way as it may: more are refused",
    all: "as many pages are under way as the service takes: more are refused",
  },
  calls: {
    holder: `an address has as many calls under way as it may: more are refused. ${byProxy}`,
    all: "as many calls are under way as the service takes: more are refused",
  },
};

const warnEveryMs = 60_000;

/**
 * Counts the connections or calls of each holder, such as an IP address. Returns the limit that is reached, or a function to
 * call at the end. If the holder is undefined, only the limit `all` applies. When more than half of `max` is in use, a holder
 * with a limit may also have only a share of what is free, so that many holders together leave something for another.
 */
export function createCountLimit(
  what: keyof typeof warnings,
  max: number,
  maxPerHolder: () => number,
  log: Pick<Log, "warn">,
  shareOfFree = Number.POSITIVE_INFINITY,
) {
  const byHolder = new Map<string | undefined, number>();
  const warnedAt = { holder: Number.NEGATIVE_INFINITY, all: Number.NEGATIVE_INFINITY };
  let all = 0;

  function change(holder: string | undefined, by: 1 | -1): void {
    all += by;
    const count = (byHolder.get(holder) ?? 0) + by;
    if (count === 0) {
      byHolder.delete(holder);
    } else {
      byHolder.set(holder, count);
    }
  }

  function full(limit: FullLimit, count: number): FullLimit {
    const nowMs = now();
    if (nowMs - warnedAt[limit] >= warnEveryMs) {
      warnedAt[limit] = nowMs;
      log.warn({ count }, warnings[what][limit]);
    }
    return limit;
  }

  return (holder: string | undefined): (() => void) | FullLimit => {
    if (all >= max) {
      return full("all", max);
    }
    const own = maxPerHolder();
    const isShared = all > max / 2 && Number.isFinite(own);
    const maxOfHolder = isShared ? Math.min(own, Math.ceil((max - all) * shareOfFree)) : own;
    if (holder !== undefined && (byHolder.get(holder) ?? 0) >= maxOfHolder) {
      return full("holder", maxOfHolder);
    }
    change(holder, 1);
    return () => change(holder, -1);
  };
}
