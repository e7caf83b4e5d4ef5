import type { Log } from "../../log/log.ts";

const warnings = {
  address:
    "an address holds as many connections as it may: more are closed. If it is a proxy of yours, name it in KIBITZ_TRUST_PROXY; KIBITZ_CONNECTIONS_PER_ADDRESS sets how many it may hold",
  all: "all connections are taken: more are closed",
  allCalls: "as many calls are under way as the service takes: more are refused",
  calls:
    "an address has as many calls under way as it may: more are refused. If it is a proxy of yours, name it in KIBITZ_TRUST_PROXY; KIBITZ_CONNECTIONS_PER_ADDRESS sets how many it may",
};

/** Logs that a limit is reached. */
export type WarnFull = (which: keyof typeof warnings, limit: number) => void;

const warnEveryMs = 60_000;

/** Each warning at most once a minute: a limit that is reached is reached at every new connection. */
export function createFullWarnings(log: Pick<Log, "warn">): WarnFull {
  const warnedAt = new Map<string, number>();
  return (which, count) => {
    const now = performance.now();
    if (now - (warnedAt.get(which) ?? Number.NEGATIVE_INFINITY) >= warnEveryMs) {
      warnedAt.set(which, now);
      log.warn({ count }, warnings[which]);
    }
  };
}
