/** How often each kind of thing occurred. */
export interface Counts {
  add(kind: string): void;
  readonly all: ReadonlyMap<string, number>;
}

export function createCounts(): Counts {
  const all = new Map<string, number>();
  return { all, add: (kind) => void all.set(kind, (all.get(kind) ?? 0) + 1) };
}

/** Each of these must occur at least 10 times in the simulations of CI. */
const kinds: readonly string[] = [
  ...["engine dies", "engine is killed", "engine hangs", "engine floods", "engine dies at a position"],
  ...["engine starts slowly", "engine does not start", "engine reads go late", "engine ignores stop"],
  ...["engine answers stop late", "engine answers late", "engine keeps movetime", "engine answers nonsense"],
  ...["engine searches slowly", "engine cleans slowly", "engine is modified", "engine is irreproducible"],
  ...[
    "database is locked",
    "disk is full",
    "disk fails",
    "stat fails",
    "file is deleted",
    "file is replaced",
  ],
  ...["redis is gone", "redis is cut off", "redis is paused", "redis is slow", "redis answers late"],
  ...["redis loses a connection", "redis restarts", "redis refuses commands", "redis has another time"],
  ...["act stop", "act kill", "act pause", "act clock jumps"],
  ...["client leaves", "client is late", "client reads slowly"],
  ...["code ok", "code canceled", "code lost", "code deadline_exceeded", "code engine_timeout"],
  ...["code overloaded", "code starting", "code shutting_down", "code store_unavailable"],
  ...["code rate_limited", "code quota_exhausted", "code concurrency_limited", "code upgrade_needed"],
  ...["code api_key_required", "code invalid_api_key", "code unknown_engine", "code illegal_position"],
  ...["code path_unavailable", "code option_not_allowed", "code out_of_range", "code internal"],
  ...["depth", "nodes", "movetime", "server_limit", "terminal"].map((reason) => `stop_reason ${reason}`),
];

const pairs = (faults: readonly string[], states: readonly string[]) =>
  faults.flatMap((fault) => states.map((state) => `${fault}, ${state}`));

/** Each of these pairs of a fault and a state must occur in the simulations of CI. */
const wantedPairs: readonly string[] = [
  ...pairs(
    ["engine dies", "engine is killed", "engine hangs", "engine floods"],
    ["starting", "idle", "searching", "cleaning"],
  ),
  ...pairs(["engine does not start"], ["starting", "no descriptor", "file changed", "not genuine"]),
  ...pairs(["engine ignores stop"], ["stop"]),
  // Left out: the disk fails in a write. SQLite reads the tables when it prepares the write, and fails there.
  ...pairs(["disk fails"], ["read", "begin"]),
  // A killed or stopped node has its state at the beginning of the act.
  ...pairs(["act stop", "act kill", "act pause"], ["idle", "searching", "waiting"]),
  ...pairs(["client leaves", "client is late"], ["waiting", "searching"]),
  // These keys are in Redis when the fault begins, or when a node ends or pauses.
  ...pairs(
    [
      ...["redis is gone", "redis is cut off", "redis is paused", "redis is slow", "redis answers late"],
      ...["redis loses a connection", "redis restarts", "redis refuses commands", "redis has another time"],
      ...["act stop", "act kill", "act pause"],
    ],
    ["a claim is held", "a place is held", "a window is open"],
  ),
  // The fault hits these commands. A node looks at a claim while another node searches.
  ...pairs(
    ["redis is slow", "redis answers late", "redis has another time"],
    ["a request enters", "a request leaves", "a search is claimed", "a claim is read", "a claim is renewed"],
  ),
  ...pairs(["redis is slow", "redis answers late", "redis has another time"], ["an answer is published"]),
  // Left out: other commands. A node sends none after the first command without a reply, until Redis answers again.
  ...pairs(["redis is paused"], ["a request leaves", "a claim is read", "a claim is renewed"]),
  // Left out: a request enters. A node notices with its probes that Redis refuses, and does not ask then.
  ...pairs(["redis refuses commands"], ["a request leaves", "a search is claimed", "a claim is renewed"]),
  // Left out: other commands. Each fault breaks few connections, and nodes renew their claims most often.
  ...pairs(["redis loses a connection"], ["a claim is renewed"]),
  // Left out for Redis that is gone, cut off or restarts: no command arrives.
];

const kindMin = 10;
const pairMin = 1;

/** Returns what occurs too rarely, so that the simulations would not notice a bug. */
export function tooRare(all: ReadonlyMap<string, number>): readonly string[] {
  const below = (names: readonly string[], least: number) =>
    names
      .filter((name) => (all.get(name) ?? 0) < least)
      .map((name) => `"${name}" occurs ${all.get(name) ?? 0} times instead of ${least}`);
  return [...below(kinds, kindMin), ...below(wantedPairs, pairMin)];
}

interface Counted {
  readonly counts: Counts;
  readonly calls: number;
  readonly virtualMs: number;
  readonly events: number;
}

/** The sums over several simulations. */
export function createTotals() {
  const all = new Map<string, number>();
  let [runs, calls, virtualMs, events] = [0, 0, 0, 0];
  return {
    kinds: all,
    add(report: Counted): void {
      runs++;
      calls += report.calls;
      virtualMs += report.virtualMs;
      events += report.events;
      for (const [kind, count] of report.counts.all) {
        all.set(kind, (all.get(kind) ?? 0) + count);
      }
    },
    text(seconds: number): string {
      const hours = (virtualMs / 3_600_000).toFixed(2);
      return `${runs} simulations, ${calls} calls, ${hours} simulated hours, ${events} events in ${seconds.toFixed(1)} s of processor time: ${Math.round(calls / seconds)} calls per second`;
    },
    table: () =>
      [...all]
        .toSorted(([a], [b]) => (a < b ? -1 : 1))
        .map(([kind, count]) => `${String(count).padStart(7)} ${kind}`)
        .join("\n"),
  };
}
