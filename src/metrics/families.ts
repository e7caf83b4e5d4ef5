import { Counter, Gauge, Histogram, type OpenMetricsContentType, type Registry } from "prom-client";

/** Series of one family at most, whatever callers send; a histogram has one for each bucket. */
export const seriesMax = 200;

/** What is counted where there is no more room for what it is. */
const other = "other";

/** From the least that a service like this takes to the longest search: 1 ms to a minute. */
const durationBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/** Of one that takes half a millisecond and is given up after 100 or 500: few, since there are many operations. */
const operationBuckets = [0.0005, 0.002, 0.01, 0.1];

/** Values of one series that are told together: one behind the other they find the code of prom-client warm. */
const waitingMax = 256;

type Labels<L extends string> = Readonly<Record<L, string>>;

/** A counter whose series are bounded. */
interface BoundedCounter<L extends string> {
  add(labels: Labels<L>, value?: number): void;
}

/** The same of what is counted elsewhere. */
interface CounterReading<L extends string> {
  /** @param now all of it since the start */
  read(labels: Labels<L>, now: number): void;
}

/** A histogram whose series are bounded. */
interface BoundedHistogram<L extends string> {
  /** @param exemplar the labels of one */
  observe(labels: Labels<L>, value: number, exemplar?: Readonly<Record<string, string>>): void;
}

function keyOf<L extends string>(labelNames: readonly L[], labels: Labels<L>): string {
  let key = "";
  for (const label of labelNames) {
    key = key === "" ? labels[label] : `${key}\n${labels[label]}`;
  }
  return key;
}

/**
 * What waits to be told to a family, by labels: prom-client (15.1) looks each time whether all labels are known and joins them anew, which
 * would take a call that ends twice as long. Of so many different labels, one of which is for all that come beyond.
 *
 * @param begin what waits of one series, as long as nothing does
 */
function seriesOf<L extends string, T>(
  labelNames: readonly L[],
  max: number,
  begin: (labels: Labels<L>) => T,
): { of(labels: Labels<L>): T; all(): Iterable<T> } {
  const known = new Map<string, T>();
  const others = Object.fromEntries(labelNames.map((label) => [label, other])) as Labels<L>;
  const keyOfOthers = keyOf(labelNames, others);
  const keep = (key: string, labels: Labels<L>): T => {
    const series = begin(labels);
    known.set(key, series);
    return series;
  };
  return {
    of(labels) {
      const key = keyOf(labelNames, labels);
      const series = known.get(key);
      if (series !== undefined) {
        return series;
      }
      return known.size < max - 1 || labelNames.length === 0
        ? keep(key, labels)
        : (known.get(keyOfOthers) ?? keep(keyOfOthers, others));
    },
    all: () => known.values(),
  };
}

/** Metrics of one registry. The names and what they are stand here alone: `docs/metrics.md` is made of them. */
export function createFamilies(registry: Registry<OpenMetricsContentType>) {
  const registers = [registry];

  function counter<const L extends string>(
    name: string,
    help: string,
    labelNames: readonly L[],
  ): BoundedCounter<L> {
    const series = seriesOf(labelNames, seriesMax, (labels) => ({ labels, waiting: 0 }));
    new Counter({
      name,
      help,
      labelNames,
      registers,
      collect() {
        for (const one of series.all()) {
          this.inc(one.labels, one.waiting);
          one.waiting = 0;
        }
      },
    });
    return {
      add(labels, value = 1) {
        series.of(labels).waiting += value;
      },
    };
  }

  /** Of what is counted elsewhere, and read when somebody looks. */
  function total<const L extends string>(
    name: string,
    help: string,
    labelNames: readonly L[],
  ): CounterReading<L> {
    const family = counter(name, help, labelNames);
    const told = new Map<string, number>();
    return {
      read(labels, now) {
        const key = keyOf(labelNames, labels);
        family.add(labels, now - (told.get(key) ?? 0));
        told.set(key, now);
      },
    };
  }

  function histogram<const L extends string>(
    name: string,
    help: string,
    labelNames: readonly L[],
    buckets: readonly number[] = durationBuckets,
  ): BoundedHistogram<L> {
    // Besides its buckets each has one for all, a sum and a count.
    const max = Math.floor(seriesMax / (buckets.length + 3));
    const series = seriesOf(labelNames, max, (labels) => ({ labels, waiting: [] as number[] }));
    const tell = ({ labels, waiting }: { readonly labels: Labels<L>; readonly waiting: number[] }) => {
      for (const value of waiting) {
        family.observe({ labels, value });
      }
      waiting.length = 0;
    };
    const family = new Histogram({
      name,
      help,
      labelNames,
      buckets: [...buckets],
      registers,
      enableExemplars: true,
      collect() {
        for (const one of series.all()) {
          tell(one);
        }
      },
    });
    return {
      observe(labels, value, exemplar) {
        const one = series.of(labels);
        if (exemplar) {
          // At once: an exemplar has the time at which it is told.
          family.observe({ labels: one.labels, value, exemplarLabels: exemplar as Labels<L> });
          return;
        }
        one.waiting.push(value);
        if (one.waiting.length >= waitingMax) {
          tell(one);
        }
      },
    };
  }

  return {
    requests: counter(
      "kibitz_requests_total",
      "Requests that have ended, by the code of their answer: ok, canceled or one of GET /problems. The method is none where a request was refused before it was a call.",
      ["protocol", "method", "code"],
    ),
    refusals: counter("kibitz_refusals_total", "Requests that were answered with an error, by its code.", [
      "code",
    ]),
    limited: counter(
      "kibitz_limited_total",
      "Requests that were refused because a limit was reached, by plan and limit: keyless/minute. Items of a batch are none.",
      ["limit"],
    ),
    requestSeconds: histogram(
      "kibitz_request_duration_seconds",
      "How long requests took, from their headers to the end of their answer. Exemplars have the trace.",
      ["protocol"],
    ),
    searchSeconds: histogram(
      "kibitz_search_duration_seconds",
      "How long engines searched, for answers that were not kept from before.",
      ["path"],
    ),
    queueSeconds: histogram(
      "kibitz_queue_wait_seconds",
      "How long searches that were finished had waited for a slot.",
      [],
    ),
    searchDepth: histogram(
      "kibitz_search_depth_plies",
      "Depth that searches reached.",
      [],
      [1, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30],
    ),
    searches: counter("kibitz_searches_total", "Searches that engines have answered, by what ended them.", [
      "path",
      "ended_by",
    ]),
    nodes: counter(
      "kibitz_search_nodes_total",
      "Positions that engines have visited in searches that were finished.",
      ["path"],
    ),
    cacheHits: counter(
      "kibitz_cache_hits_total",
      "Answers that were kept from before: in memory, in the store on disk, or shared by all nodes.",
      ["tier"],
    ),
    cacheMisses: counter("kibitz_cache_misses_total", "Answers that could have been kept and were not.", []),
    askers: total(
      "kibitz_search_askers_total",
      "Callers whose answer was not kept from before: those for whom a search was begun, and those who joined one under way.",
      ["search"],
    ),
    queueEntries: total(
      "kibitz_queue_entries_total",
      "Searches that wanted a slot of this node: those that got one, and those that were refused because they would have waited too long.",
      ["outcome"],
    ),
    keyLookUps: total(
      "kibitz_key_look_ups_total",
      "API keys of requests that were looked up: in memory, or in the store, which may not know them.",
      ["from"],
    ),
    redisSeconds: histogram(
      "kibitz_redis_operation_duration_seconds",
      "How long operations of Redis took that were answered or given up, by command or script.",
      ["operation"],
      operationBuckets,
    ),
    redisErrors: counter(
      "kibitz_redis_operation_errors_total",
      "Operations of Redis that have failed: away (not asked, as it was not there), timeout, lost (the connection), or Redis's own word for it.",
      ["operation", "reason"],
    ),
    engineStarts: counter("kibitz_engine_starts_total", "Engines that were started.", ["engine", "path"]),
    engineRestarts: counter(
      "kibitz_engine_restarts_total",
      "Engines that ended or could not be started, by the reason; others come in their place.",
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
    engines: gauge(
      "kibitz_engines",
      "Engines by their build and what they do: waiting to be started, starting, busy, idle or closing.",
      ["engine", "path", "state"],
    ),
    engineMemory: gauge("kibitz_engine_memory_bytes", "Memory that engines take.", ["engine", "path"]),
    enginesAvailable: gauge(
      "kibitz_engine_available",
      "1 where engines of the build can be started, else 0.",
      ["engine", "path"],
    ),
    degraded: gauge(
      "kibitz_degraded",
      "1 for each part of the service that does without what it should have.",
      ["part"],
    ),
    clock: gauge(
      "kibitz_clock_seconds",
      "The wall clock, in seconds since 1970, by which keys expire and a day's engine time ends.",
      [],
    ),
    build: gauge("kibitz_build_info", "1, with the version of the service.", ["version"]),
  };

  function gauge<const L extends string>(name: string, help: string, labelNames: readonly L[]) {
    return new Gauge({ name, help, labelNames, registers });
  }
}

export type Families = ReturnType<typeof createFamilies>;
