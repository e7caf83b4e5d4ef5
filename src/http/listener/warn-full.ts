import type { Log } from "../../log/log.ts";
import type { FullLimit } from "../../request/in-flight.ts";
import { now } from "../../time/time.ts";

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

/** Logs at most once a minute that the limit of an address, or of all addresses together, is reached. */
export function createFullWarning(what: keyof typeof warnings, log: Pick<Log, "warn">) {
  const warnedAt = { holder: Number.NEGATIVE_INFINITY, all: Number.NEGATIVE_INFINITY };
  return ({ of, max }: FullLimit): void => {
    const nowMs = now();
    if (nowMs - warnedAt[of] >= warnEveryMs) {
      warnedAt[of] = nowMs;
      log.warn({ count: max }, warnings[what][of]);
    }
  };
}
