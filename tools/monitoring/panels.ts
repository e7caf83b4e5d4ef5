export interface Panel {
  readonly title: string;
  /** Explains the panel to an operator who does not know Kibitz. */
  readonly about: string;
  readonly unit: "short" | "reqps" | "s" | "percentunit" | "bytes" | "ops";
  /** Each key is the name of a curve, and its value is the Prometheus query. Grafana replaces `{{label}}` in a name. */
  readonly lines: Readonly<Record<string, string>>;
}

/** Selects the node that was chosen in the dashboard, or all nodes. */
const node = 'job="kibitz", instance=~"$instance"';

const rate = (name: string, labels = "") =>
  `rate(${name}{${node}${labels && `, ${labels}`}}[$__rate_interval])`;

const quantile = (share: number, name: string) =>
  `histogram_quantile(${share}, sum by (le) (${rate(`${name}_bucket`)}))`;

const engine = "{{instance}} {{engine}} {{path}}";

/** The first rows show what callers notice. The last rows show the resources of the process. */
export const rows: Readonly<Record<string, readonly Panel[]>> = {
  "What callers notice": [
    {
      title: "Calls failed because of the service",
      about:
        "Share of the calls that were asked rightly. Over a month it may be 0.5 %, which is the line to stay below; KibitzFailingFast and KibitzFailingSlowly go by it.",
      unit: "percentunit",
      lines: { "5 minutes": "kibitz:calls_failed:ratio5m", "1 hour": "kibitz:calls_failed:ratio1h" },
    },
    {
      title: "Expected wait",
      about:
        "How long the next search of a new caller would wait for a slot. Above a second it is too long: KibitzWaitingFast and KibitzWaitingSlowly go by it. What to scale by.",
      unit: "s",
      lines: { "{{instance}}": `kibitz_queue_expected_wait_seconds{${node}}` },
    },
    {
      title: "Requests",
      about: "Requests that have ended, by how they did.",
      unit: "reqps",
      lines: { "{{code}}": `sum by (code) (${rate("kibitz_requests_total")})` },
    },
    {
      title: "Requests by protocol",
      about: "Who speaks what.",
      unit: "reqps",
      lines: { "{{protocol}}": `sum by (protocol) (${rate("kibitz_requests_total")})` },
    },
    {
      title: "Refusals",
      about: "Errors, by code. Codes are explained at GET /problems.",
      unit: "reqps",
      lines: { "{{code}}": `sum by (code) (${rate("kibitz_refusals_total")})` },
    },
    {
      title: "Time of requests",
      about: "From their headers to the end of their answer, streams and batches included.",
      unit: "s",
      lines: {
        half: quantile(0.5, "kibitz_request_duration_seconds"),
        "95 of 100": quantile(0.95, "kibitz_request_duration_seconds"),
        "99 of 100": quantile(0.99, "kibitz_request_duration_seconds"),
      },
    },
  ],
  "Searches and engines": [
    {
      title: "Slots",
      about: "Searches that run, of those that can, and searches that wait.",
      unit: "short",
      lines: {
        "{{instance}} run": `kibitz_slots_busy{${node}}`,
        "{{instance}} can run": `kibitz_slots{${node}}`,
        "{{instance}} wait": `kibitz_queue_length{${node}}`,
      },
    },
    {
      title: "Time waited for a slot",
      about:
        "Of searches that have begun. The items of a batch wait for each other, so this may be long while new callers wait for nothing.",
      unit: "s",
      lines: {
        half: quantile(0.5, "kibitz_queue_wait_seconds"),
        "95 of 100": quantile(0.95, "kibitz_queue_wait_seconds"),
      },
    },
    {
      title: "Time of searches",
      about: "By the clocks of the engines.",
      unit: "s",
      lines: {
        half: quantile(0.5, "kibitz_search_duration_seconds"),
        "95 of 100": quantile(0.95, "kibitz_search_duration_seconds"),
      },
    },
    {
      title: "Searches",
      about: "By what ended them.",
      unit: "ops",
      lines: { "{{path}} {{ended_by}}": `sum by (path, ended_by) (${rate("kibitz_searches_total")})` },
    },
    {
      title: "Depth of searches",
      about: "In plies.",
      unit: "short",
      lines: {
        half: quantile(0.5, "kibitz_search_depth_plies"),
        "95 of 100": quantile(0.95, "kibitz_search_depth_plies"),
      },
    },
    {
      title: "Positions visited",
      about: "Nodes a second, of all engines together.",
      unit: "ops",
      lines: { "{{path}}": `sum by (path) (${rate("kibitz_search_nodes_total")})` },
    },
    {
      title: "Answers that were known",
      about: "Share of those that could be: from memory, from the store on disk, or shared by all nodes.",
      unit: "percentunit",
      lines: {
        "{{tier}}": `sum by (tier) (${rate("kibitz_cache_hits_total")}) / ignoring (tier) group_left () (sum(${rate("kibitz_cache_hits_total")}) + sum(${rate("kibitz_cache_misses_total")}))`,
      },
    },
    {
      title: "Limits reached",
      about: "Requests that were refused by a limit of their plan.",
      unit: "ops",
      lines: { "{{limit}}": `sum by (limit) (${rate("kibitz_limited_total")})` },
    },
    {
      title: "Searches joined",
      about:
        "Callers whose answer was not kept: those for whom a search was begun, and those who joined one under way.",
      unit: "ops",
      lines: { "{{search}}": `sum by (search) (${rate("kibitz_search_askers_total")})` },
    },
    {
      title: "Searches refused a slot",
      about: "Share of those that wanted one: they would have waited too long. Items of a batch count each.",
      unit: "percentunit",
      lines: {
        refused: `sum(${rate("kibitz_queue_entries_total", 'outcome="refused"')}) / sum(${rate("kibitz_queue_entries_total")})`,
      },
    },
    {
      title: "Engines lost",
      about: "Engines that ended or could not be started, by the reason. KibitzEnginesDying goes by it.",
      unit: "ops",
      lines: {
        "{{instance}} {{reason}}": `sum by (instance, reason) (${rate("kibitz_engine_restarts_total")})`,
      },
    },
    {
      title: "Engines",
      about: "What they do.",
      unit: "short",
      lines: { "{{state}}": `sum by (state) (kibitz_engines{${node}})` },
    },
    {
      title: "Engines that can be started",
      about: "0 is KibitzEngineUnavailable.",
      unit: "short",
      lines: { [engine]: `kibitz_engine_available{${node}}` },
    },
    {
      title: "Memory of engines",
      about: "Of all engines of a build together.",
      unit: "bytes",
      lines: { [engine]: `kibitz_engine_memory_bytes{${node}}` },
    },
    {
      title: "Time to start an engine",
      about: "From the process to its readiness.",
      unit: "s",
      lines: { "95 of 100": quantile(0.95, "kibitz_engine_start_duration_seconds") },
    },
  ],
  Nodes: [
    {
      title: "Nodes that answer",
      about: "0 is KibitzNodeDown.",
      unit: "short",
      lines: { "{{instance}}": `up{${node}}` },
    },
    {
      title: "Degraded parts",
      about: "1 for each part of a node that does without what it should have: KibitzDegraded.",
      unit: "short",
      lines: { "{{instance}} {{part}}": `kibitz_degraded{${node}}` },
    },
    {
      title: "Errors that nothing caught",
      about: "In the last hour: KibitzUnhandledErrors. The log has the stacks.",
      unit: "short",
      lines: { "{{instance}}": `increase(kibitz_unhandled_errors_total{${node}}[1h])` },
    },
    {
      title: "Lateness of the thread",
      about:
        "How late what is to be done begins. About 10 ms is nothing, since it looks that seldom. KibitzThreadLate goes by the half.",
      unit: "s",
      lines: {
        "{{instance}} half": `nodejs_eventloop_lag_p50_seconds{${node}}`,
        "{{instance}} 99 of 100": `nodejs_eventloop_lag_p99_seconds{${node}}`,
      },
    },
    {
      title: "Processor",
      about: "Cores that the server takes for itself; engines come on top.",
      unit: "short",
      lines: { "{{instance}}": rate("process_cpu_seconds_total") },
    },
    {
      title: "Memory of the server",
      about: "Without engines.",
      unit: "bytes",
      lines: { "{{instance}}": `process_resident_memory_bytes{${node}}` },
    },
    {
      title: "Garbage collection time",
      about: "Share of the time that garbage collection takes.",
      unit: "percentunit",
      lines: { "{{instance}} {{kind}}": rate("nodejs_gc_duration_seconds_sum") },
    },
    {
      title: "File descriptors",
      about: "In use, of those there are. KibitzDescriptorsShort goes by it.",
      unit: "percentunit",
      lines: { "{{instance}}": `process_open_fds{${node}} / process_max_fds` },
    },
    {
      title: "Error of the clock",
      about: "How far it is from Prometheus' own: KibitzClockWrong.",
      unit: "s",
      lines: { "{{instance}}": `kibitz_clock_seconds{${node}} - timestamp(kibitz_clock_seconds)` },
    },
    {
      title: "Running since",
      about: "How long. KibitzRestartsOften tells of those that start again and again.",
      unit: "s",
      lines: { "{{instance}}": `time() - process_start_time_seconds{${node}}` },
    },
  ],
  "What nodes share": [
    {
      title: "Time of Redis",
      about:
        "Until 95 of 100 operations were answered, or given up: those that requests wait for are enter, get and set.",
      unit: "s",
      lines: {
        "{{operation}}": `histogram_quantile(0.95, sum by (le, operation) (${rate("kibitz_redis_operation_duration_seconds_bucket")}))`,
      },
    },
    {
      title: "Operations of Redis",
      about: "A second, of all nodes together.",
      unit: "ops",
      lines: {
        "{{operation}}": `sum by (operation) (${rate("kibitz_redis_operation_duration_seconds_count")})`,
      },
    },
    {
      title: "Operations that failed",
      about: "By the reason: away, timeout, lost, or Redis's own word for it, such as oom.",
      unit: "ops",
      lines: {
        "{{instance}} {{reason}}": `sum by (instance, reason) (${rate("kibitz_redis_operation_errors_total")})`,
      },
    },
    {
      title: "Keys looked up",
      about: "In memory, or in the store: below one of a hundred, where callers ask again.",
      unit: "ops",
      lines: { "{{from}}": `sum by (from) (${rate("kibitz_key_look_ups_total")})` },
    },
  ],
};

export const panels: ReadonlyMap<string, Panel> = new Map(
  Object.values(rows)
    .flat()
    .map((panel) => [panel.title, panel]),
);
