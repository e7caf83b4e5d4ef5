/** A test of one alert: the samples for Prometheus, and how often the alert fires at given times. */
export interface Story {
  readonly alert: string;
  readonly scenario: string;
  /** Time series with one value a minute, in promtool's notation: `0+10x5` means 0, 10, 20 … 50. */
  readonly series: Readonly<Record<string, string>>;
  /** The expected number of firing alerts by time. One alert can fire several times at once: for each node, engine or part. */
  readonly fires: Readonly<Record<string, number>>;
}

const call = (code: string, method = "Evaluate") =>
  `kibitz_requests_total{job="kibitz", instance="a", protocol="json", method="${method}", code="${code}"}`;
const of = (name: string, labels = "", instance = "a") =>
  `${name}{job="kibitz", instance="${instance}"${labels && `, ${labels}`}}`;
const wait = "kibitz_queue_expected_wait_seconds";
const restarts = (reason: string) => of("kibitz_engine_restarts_total", `reason="${reason}"`);
const refused = (code: string) => of("kibitz_refusals_total", `code="${code}"`);

export const stories: readonly Story[] = [
  {
    alert: "KibitzFailingFast",
    scenario: "a third of the calls fails for 20 minutes",
    series: { [call("ok")]: "0+100x240", [call("overloaded")]: "0x60 50+50x19 1000x180" },
    fires: { "55m": 0, "78m": 1, "130m": 0 },
  },
  {
    alert: "KibitzFailingFast",
    scenario: "calls are invalid, over the caller's limits, past their deadlines, or cancelled",
    series: {
      [call("ok")]: "0+10x240",
      [call("invalid_fen")]: "0+500x240",
      [call("upgrade_needed")]: "0+500x240",
      [call("rate_limited")]: "0+500x240",
      [call("deadline_exceeded")]: "0+500x240",
      [call("canceled")]: "0+500x240",
    },
    fires: { "60m": 0, "240m": 0 },
  },
  {
    alert: "KibitzFailingFast",
    scenario: "every other call fails, and health checks, which are many, do not",
    series: {
      [call("ok")]: "0+10x120",
      [call("internal")]: "0+10x120",
      [call("ok", "Check")]: "0+5000x120",
    },
    fires: { "60m": 1 },
  },
  {
    alert: "KibitzFailingFast",
    scenario: "a few calls are made at night, and some fail",
    series: { [call("ok")]: "0x30 1x100", [call("internal")]: "0x30 4x100" },
    fires: { "32m": 0, "60m": 0 },
  },
  {
    alert: "KibitzFailingFast",
    scenario: "no calls are made",
    series: { [call("ok")]: "5x120" },
    fires: { "60m": 0 },
  },
  {
    alert: "KibitzWaitingFast",
    scenario: "searches wait in the queue for 20 minutes",
    series: { [of(wait)]: "0x60 3x20 0x120" },
    fires: { "55m": 0, "78m": 1, "130m": 0 },
  },
  {
    alert: "KibitzWaitingFast",
    scenario: "the queue is always short",
    series: { [of(wait)]: "0.9x240" },
    fires: { "60m": 0, "240m": 0 },
  },
  {
    alert: "KibitzEnginesDying",
    scenario: "an engine dies every minute for a while",
    series: { [restarts("killed")]: "0x10 1+1x9 10x40" },
    fires: { "10m": 0, "21m": 1, "45m": 0 },
  },
  {
    alert: "KibitzEnginesDying",
    scenario: "three engines die",
    series: { [restarts("exited")]: "0x10 3x40" },
    fires: { "15m": 0, "40m": 0 },
  },
  {
    alert: "KibitzEngineUnavailable",
    scenario: "one of two engines cannot be started for a while",
    series: {
      [of("kibitz_engine_available", 'engine="stockfish-19", path="wasm"')]: "1x4 0x9 1x20",
      [of("kibitz_engine_available", 'engine="stockfish-18", path="wasm"')]: "1x40",
    },
    fires: { "6m": 0, "9m": 1, "16m": 0 },
  },
  {
    alert: "KibitzNodeDown",
    scenario: "one of two nodes is down for a while",
    series: { 'up{job="kibitz", instance="a"}': "1x4 0x9 1x20", 'up{job="kibitz", instance="b"}': "1x40" },
    fires: { "5m": 0, "9m": 1, "16m": 0 },
  },
  {
    alert: "KibitzNodeDown",
    scenario: "another service is down",
    series: { 'up{job="node", instance="a"}': "0x40" },
    fires: { "20m": 0 },
  },
  {
    alert: "KibitzMetricsAbsent",
    scenario: "no node exists for ten minutes",
    series: {
      'up{job="kibitz", instance="a"}': "_x10 1x20",
      [of("kibitz_build_info", 'version="1.0.0"')]: "_x10 1x20",
    },
    fires: { "4m": 0, "9m": 1, "20m": 0 },
  },
  {
    alert: "KibitzMetricsAbsent",
    scenario: "another program runs in the place of one of two nodes",
    series: {
      'up{job="kibitz", instance="a"}': "1x20",
      'up{job="kibitz", instance="b"}': "1x20",
      [of("kibitz_build_info", 'version="1.0.0"')]: "1x20",
    },
    fires: { "10m": 1 },
  },
  {
    alert: "KibitzRestartsOften",
    scenario: "a node restarts every five minutes for a while",
    series: { [of("process_start_time_seconds")]: "100x9 400x4 700x4 1000x60" },
    fires: { "15m": 0, "25m": 1, "60m": 0 },
  },
  {
    alert: "KibitzRestartsOften",
    scenario: "a node is updated",
    series: { [of("process_start_time_seconds")]: "100x9 400x60" },
    fires: { "15m": 0, "40m": 0 },
  },
  {
    alert: "KibitzUnhandledErrors",
    scenario: "a caller finds a fault of the code, and repeats its request three times",
    series: { [of("kibitz_unhandled_errors_total")]: "0x9 1 2 3x90" },
    fires: { "8m": 0, "15m": 1, "90m": 0 },
  },
  {
    alert: "KibitzDegraded",
    scenario: "the disk is full for a while",
    series: {
      [of("kibitz_degraded", 'part="database"')]: "0x4 1x9 0x20",
      [of("kibitz_degraded", 'part="stored_answers"')]: "0x4 1x9 0x20",
    },
    fires: { "5m": 0, "9m": 2, "16m": 0 },
  },
  {
    alert: "KibitzThreadLate",
    scenario: "the event loop is slow for a quarter of an hour",
    series: { [of("nodejs_eventloop_lag_p50_seconds")]: "0.01x9 0.2x14 0.01x20" },
    fires: { "12m": 0, "20m": 1, "30m": 0 },
  },
  {
    alert: "KibitzDescriptorsShort",
    scenario: "nine of ten descriptors are in use for a quarter of an hour",
    series: {
      [of("process_open_fds")]: "100x9 950x14 100x20",
      [of("process_max_fds")]: "1024x50",
    },
    fires: { "12m": 0, "20m": 1, "30m": 0 },
  },
  {
    alert: "KibitzClockWrong",
    scenario: "the clock is an hour ahead for a quarter of an hour",
    series: { [of("kibitz_clock_seconds")]: "0+60x5 3960+60x14 1260+60x20" },
    fires: { "5m": 0, "8m": 0, "18m": 1, "30m": 0 },
  },
  {
    alert: "KibitzClockWrong",
    scenario: "the clock is three seconds slow",
    series: { [of("kibitz_clock_seconds")]: "-3+60x40" },
    fires: { "30m": 0 },
  },
  {
    alert: "KibitzRefusingMany",
    scenario: "one caller sends ten times as many requests as all others, and ten times as many as allowed",
    series: {
      [call("ok")]: "0+60x60",
      [call("rate_limited")]: "0x10 600+600x14 9000x40",
      [refused("rate_limited")]: "0x10 600+600x14 9000x40",
    },
    fires: { "10m": 0, "24m": 1, "45m": 0 },
  },
  {
    alert: "KibitzRefusingMany",
    scenario: "most requests need a larger plan, and few exceed a rate limit",
    series: {
      [call("ok")]: "0+6x60",
      [call("upgrade_needed")]: "0+600x60",
      [refused("upgrade_needed")]: "0+600x60",
      [refused("rate_limited")]: "0+12x60",
    },
    fires: { "30m": 0 },
  },
];

const others = Object.fromEntries(
  Array.from({ length: 19 }, (_, index) => [of(wait, "", `other ${index}`), "0x2100"]),
);

/** Scenarios of several days. Their rules are evaluated only every five minutes. */
export const longStories: readonly Story[] = [
  {
    alert: "KibitzFailingSlowly",
    scenario: "two of a hundred calls fail for a day",
    series: { [call("ok")]: "0+98x2100", [call("internal")]: "0+2x1560 3120x540" },
    fires: { "26h": 1, "34h": 0 },
  },
  {
    alert: "KibitzFailingFast",
    scenario: "two of a hundred calls fail for a day",
    series: { [call("ok")]: "0+98x2100", [call("internal")]: "0+2x2100" },
    fires: { "26h": 0 },
  },
  {
    alert: "KibitzFailingSlowly",
    scenario: "exactly the allowed part of the calls fails",
    series: { [call("ok")]: "0+996x2100", [call("internal")]: "0+4x2100" },
    fires: { "26h": 0, "34h": 0 },
  },
  {
    alert: "KibitzWaitingSlowly",
    scenario: "one of twenty nodes has a long queue for a day",
    series: { ...others, [of(wait)]: "3x1560 0x540" },
    fires: { "26h": 1, "34h": 0 },
  },
  {
    alert: "KibitzWaitingFast",
    scenario: "one of twenty nodes has a long queue for a day",
    series: { ...others, [of(wait)]: "3x2100" },
    fires: { "26h": 0 },
  },
  {
    alert: "KibitzWaitingSlowly",
    scenario: "no node has an expected wait of more than a second",
    series: { ...others, [of(wait)]: "1x2100" },
    fires: { "26h": 0 },
  },
];
