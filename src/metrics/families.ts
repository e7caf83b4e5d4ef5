import { Counter, Gauge, Histogram, type OpenMetricsContentType, type Registry } from "prom-client";

/** Buckets in seconds. The fastest requests take 1 ms, and the longest searches take a minute. */
const durationBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** Buckets in seconds. A Redis operation takes about 0.5 ms, and times out after 100 or 500 ms. */
const operationBuckets = [0.0005, 0.002, 0.01, 0.1];

/** `docs/metrics.md` is generated from these texts. Label values come from short fixed lists, never from clients. */
export function createFamilies(registry: Registry<OpenMetricsContentType>) {
  const registers = [registry];

  function counter<const L extends string>(name: string, help: string, labelNames: readonly L[]) {
    return new Counter({ name, help, labelNames, registers });
  }

  function histogram<const L extends string>(
    name: string,
    help: string,
    labelNames: readonly L[],
    buckets: readonly number[] = durationBuckets,
  ) {
    // Enable exemplars. prom-client then takes an object as the argument of `observe`.
    return new Histogram({ name, help, labelNames, buckets: [...buckets], registers, enableExemplars: true });
  }

  function gauge<const L extends string>(name: string, help: string, labelNames: readonly L[]) {
    return new Gauge({ name, help, labelNames, registers });
  }

  return {
    requests: counter(
      "kibitz_requests_total",
      "Requests that have ended, by the code of their answer: ok, canceled or a code of GET /problems. The method is none if a request was refused before it was a call.",
      ["protocol", "method", "code"],
    ),
    refusals: counter("kibitz_refusals_total", "Requests that were answered with an error, by its code.", [
      "code",
    ]),
    limited: counter(
      "kibitz_limited_total",
      "Requests that were refused because a limit was reached, by plan and limit: keyless/minute. Items of a batch do not count.",
      ["limit"],
    ),
    requestSeconds: histogram(
      "kibitz_request_duration_seconds",
      "How long requests took, from their headers to the end of their answer. Exemplars have the trace.",
      ["protocol"],
    ),
    searchSeconds: histogram(
      "kibitz_search_duration_seconds",
      "How long engines searched, for answers that were not cached.",
      ["path"],
    ),
    queueSeconds: histogram(
      "kibitz_queue_wait_seconds",
      "How long finished searches had waited for a slot and a clean engine.",
      [],
    ),
    searchDepth: histogram(
      "kibitz_search_depth_plies",
      "Depth that finished searches reached.",
      [],
      [1, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30],
    ),
    searches: counter(
      "kibitz_searches_total",
      "Searches that engines have answered, by the limit that ended them: depth, nodes, time or stop.",
      ["path", "ended_by"],
    ),
    nodes: counter("kibitz_search_nodes_total", "Positions that engines have visited in finished searches.", [
      "path",
    ]),
    cacheHits: counter(
      "kibitz_cache_hits_total",
      "Answers from the cache: in memory, in the store on disk, or shared by all nodes.",
      ["tier"],
    ),
    cacheMisses: counter(
      "kibitz_cache_misses_total",
      "Answers that could have been cached and were not.",
      [],
    ),
    waiters: counter(
      "kibitz_search_askers_total",
      "Callers whose answer was not cached: begun if a search was begun for them, joined if they share a search in flight.",
      ["search"],
    ),
    queueEntries: counter(
      "kibitz_queue_entries_total",
      "Searches that asked for a slot of this node: admitted, or refused because they would have waited too long.",
      ["outcome"],
    ),
    keyLookUps: counter(
      "kibitz_key_look_ups_total",
      "API keys of requests that were looked up: in memory, or in the store, which may not have them.",
      ["from"],
    ),
    unhandledErrors: counter(
      "kibitz_unhandled_errors_total",
      "Errors that nothing caught. Each has ended its request only, or has stopped the node if it belonged to no request.",
      [],
    ),
    redisSeconds: histogram(
      "kibitz_redis_operation_duration_seconds",
      "How long operations of Redis took that were answered or timed out, by command or script.",
      ["operation"],
      operationBuckets,
    ),
    redisErrors: counter(
      "kibitz_redis_operation_errors_total",
      "Operations of Redis that have failed: away (not sent, because there was no connection), timeout, lost (the connection), or Redis's own error code.",
      ["operation", "reason"],
    ),
    engineStarts: counter("kibitz_engine_starts_total", "Engines that were started.", ["engine", "path"]),
    engineRestarts: counter(
      "kibitz_engine_restarts_total",
      "Engines that ended or could not be started, by the reason; others are started in their place.",
      ["reason"],
    ),
    engineStartSeconds: histogram(
      "kibitz_engine_start_duration_seconds",
      "How long engines took to start.",
      ["path"],
      [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    ),
    queueLength: gauge("kibitz_queue_length", "Searches that wait for a slot.", []),
    queueExpectedWait: gauge(
      "kibitz_queue_expected_wait_seconds",
      "How long the next search of a new caller is expected to wait for a slot: what to scale by.",
      [],
    ),
    slots: gauge("kibitz_slots", "Searches that can run at a time.", []),
    slotsBusy: gauge("kibitz_slots_busy", "Searches that run.", []),
    engines: gauge("kibitz_engines", "Engines by their build and what they do: starting, busy or idle.", [
      "engine",
      "path",
      "state",
    ]),
    engineMemory: gauge("kibitz_engine_memory_bytes", "Memory that engines take.", ["engine", "path"]),
    enginesAvailable: gauge("kibitz_engine_available", "1 if engines of the build can be started, else 0.", [
      "engine",
      "path",
    ]),
    degraded: gauge("kibitz_degraded", "1 for each part of the service that is degraded, else 0.", ["part"]),
    clock: gauge(
      "kibitz_clock_seconds",
      "The wall clock, in seconds since 1970, by which keys expire and a day's engine time ends.",
      [],
    ),
    build: gauge("kibitz_build_info", "1, with the version of the service.", ["version"]),
  };
}

export type Families = ReturnType<typeof createFamilies>;
