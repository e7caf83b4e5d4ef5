import { listenerLimits } from "../http/listener/limits.ts";
import type { Config } from "./settings.ts";
import { tableFilesIn } from "./tablebase.ts";

/** Descriptors that are kept for engines, stores, the metrics port and files. */
const reserved = 160;
/** An engine has three descriptors, and its start needs six more. */
const reservedPerSlot = 10;
/** No address may take more than this share of the connections. */
const shareOfAddress = 1 / 4;
const connectionsMin = 16;

interface Descriptors {
  /** Undefined if the system has no limit that Node knows. */
  readonly limit: number | undefined;
  /** The maximum number of connections, with which an engine can still be started. */
  readonly connectionsMax: number;
  readonly perAddressMax: number;
  /** Set if the limit of the system allows fewer connections than Kibitz. Says what to do. */
  readonly warning: string | undefined;
}

/** Derives the maximum number of connections from the number of files that this process may open. */
export function descriptorsFor(
  { slots, syzygy }: Pick<Config, "slots" | "syzygy">,
  limit = openFilesMax(),
): Descriptors {
  const wanted = listenerLimits.connectionsMax;
  const kept = reserved + reservedPerSlot * slots + tableFilesIn(syzygy);
  const connectionsMax = Math.min(
    wanted,
    Math.max(connectionsMin, (limit ?? Number.POSITIVE_INFINITY) - kept),
  );
  const isLow = connectionsMax < wanted;
  return {
    limit,
    connectionsMax,
    perAddressMax: isLow ? Math.ceil(connectionsMax * shareOfAddress) : Number.POSITIVE_INFINITY,
    warning: isLow
      ? `this process may open only ${limit} files, so at most ${connectionsMax} connections are accepted instead of ${wanted}. ` +
        `Raise the limit to ${wanted + kept}: ulimit -n, LimitNOFILE= of systemd, or --ulimit nofile of Docker`
      : undefined,
  };
}

/** Node has already raised the soft limit to the hard limit. */
function openFilesMax(): number | undefined {
  const { report } = process;
  // By default, the report looks up the name of every peer.
  const { userLimits } = Object.assign(report, { excludeNetwork: true }).getReport() as UserLimits;
  const soft = userLimits?.open_files?.soft;
  return typeof soft === "number" ? soft : undefined;
}

/** The part of a report of Node that is used. The report has no limits on Windows. */
interface UserLimits {
  readonly userLimits?: { readonly open_files?: { readonly soft: number | "unlimited" } };
}
