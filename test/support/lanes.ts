import { randomInt } from "node:crypto";
import { matchesGlob } from "node:path";
import type { ProjectConfig } from "vitest/node";
import { components, type Need } from "./components.ts";
import { patienceMs } from "./patience.ts";
import { allTests, unitTests } from "./unit-tests.ts";

/** A lane is a set of tests that one command runs. */
interface Lane {
  /** What is tested, for the list that `npm run lane` prints. */
  readonly about: string;
  /** Globs. A file belongs to the first lane of the table that has a matching glob. */
  readonly files: readonly string[];
  /** What a machine may lack. Tests that need a missing component are skipped, and fail in CI. */
  readonly needs: readonly Need[];
  /** Modules that install what the lane needs. They run before the check of what is missing. */
  readonly install?: readonly string[];
  /** Modules that build or start what all files of the lane share. They run after the check. */
  readonly start?: readonly string[];
  /** True if the lane takes too long for `.ci/run`. The nightly run contains it. */
  readonly onlyAtNight?: true;
  /** How vitest runs the tests, where it differs from `usual`. */
  readonly options?: ProjectConfig;
  /** True if node runs the only file of the lane, instead of vitest. */
  readonly isProgram?: true;
}

const minuteMs = 60_000;

/** The workers are as many as vitest chooses: one less than the number of cores. */
const usual = { retry: 0, testTimeout: 3 * minuteMs, hookTimeout: 3 * minuteMs } satisfies ProjectConfig;

const units = unitTests(allTests());

/** Of `npm test`. */
const quick = {
  // Files share the modules that one worker has read: reading them anew takes longer than most of the tests.
  isolate: false,
  setupFiles: ["test/support/real-clock.ts", "test/support/fixed-seed.ts"],
  env: { FUZZ_SEED: process.env.FUZZ_SEED ?? "1" },
  // Most of them wait for engines and timers, so there can be more than cores; vitest's own choice is one less.
  maxWorkers: 6,
  expect: { poll: { timeout: patienceMs } },
} satisfies ProjectConfig;

/** One file after another, because the files share the machine with the processes that they start. */
const oneByOne = { fileParallelism: false, expect: { poll: { timeout: 20_000 } } } satisfies ProjectConfig;

/** Nothing here needs root: a newcomer is an ordinary user. */
const serviceNeeds: readonly Need[] = [
  "native",
  "chromium",
  "util-linux",
  "namespaces",
  "node 25",
  "redis",
  "prometheus",
];

/** Another seed each time, so that every run looks elsewhere. A test that fails says how to run it again. */
const { FUZZ_SEED = String(randomInt(2 ** 31)), FUZZ_MINUTES = "2" } = process.env;

const table = {
  nightly: {
    about: "*.nightly.test.ts: tests that take long and guard what changes rarely",
    files: ["test/**/*.nightly.test.ts"],
    needs: Object.keys(components) as Need[],
    install: ["test/tools/go-tools.ts", "test/tools/lc0.ts", "test/cluster/deploy-tools.ts"],
    start: ["test/clients/toolchains.ts", "test/clients/generated/toolchains.ts"],
    onlyAtNight: true,
    options: { ...oneByOne, testTimeout: 30 * minuteMs, hookTimeout: 30 * minuteMs },
  },
  timed: {
    about: "*.timed.test.ts: what an attack or a failure costs other callers in time",
    files: ["test/**/*.timed.test.ts"],
    needs: ["native", "util-linux", "redis", "haproxy", "namespaces", "root"],
    start: ["test/abuse/shared-service.ts"],
    // One test runs after another, because two at a time would measure each other. A test that fails may run a second time;
    // `.ci/run` lists each that did, and more than two of them fail the run.
    options: { ...oneByOne, retry: 1 },
  },
  slow: {
    about: "test/slow: processes, faults, the packed package, and what takes long and rarely changes",
    files: ["test/slow/**/*.test.ts"],
    needs: [...serviceNeeds, "systemd", "man-db", "jq", "root", "mounts"],
    options: { maxWorkers: 3, expect: { poll: { timeout: patienceMs } } },
  },
  simulation: {
    about: "test/simulation: failures of engines, disks, Redis and nodes in virtual time, from fixed seeds",
    files: ["test/simulation/lane.ts"],
    needs: [],
    isProgram: true,
  },
  abuse: {
    about: "test/abuse: attacks on a running service",
    files: ["test/abuse/**/*.test.ts"],
    needs: ["native"],
    start: ["test/abuse/shared-service.ts"],
    // The files share one service, and count what an attack takes of it. Tests that are marked as concurrent only wait until
    // the service closes their connection.
    options: { fileParallelism: false, maxConcurrency: 32 },
  },
  clients: {
    about: "test/clients: client libraries of four languages, and chess programs",
    files: ["test/clients/**/*.test.ts"],
    needs: ["go", "jdk", "maven", "python", "chromium"],
    start: ["test/clients/toolchains.ts"],
    // Within a file, programs that only wait run beside each other.
    options: { ...oneByOne, maxConcurrency: 4 },
  },
  page: {
    about: "test/page: the page in Chromium, and its main uses in Firefox, against a running service",
    files: ["test/page/**/*.test.ts"],
    needs: ["chromium", "firefox"],
    start: ["test/page/shared-page.ts"],
    // One process reads what all files import.
    options: { ...oneByOne, isolate: false },
  },
  cluster: {
    about: "test/cluster: several nodes with one Redis, behind a balancer",
    files: ["test/cluster/**/*.test.ts"],
    needs: [
      "redis",
      "haproxy",
      "nginx",
      "prometheus",
      "envoy",
      "helm",
      "go",
      "python",
      "chromium",
      "namespaces",
      "root",
    ],
    install: ["test/tools/go-tools.ts", "test/cluster/deploy-tools.ts"],
    options: oneByOne,
  },
  openapi: {
    about: "the service against its OpenAPI document, with schemathesis, which needs Python 3.11",
    files: ["test/openapi/run-schemathesis.ts"],
    needs: ["python"],
    isProgram: true,
  },
  tools: {
    about: "test/tools: grpcurl, buf curl, ghz",
    files: ["test/tools/**/*.test.ts"],
    needs: ["grpcurl", "ghz", "actionlint", "go", "python"],
    install: ["test/tools/go-tools.ts"],
    options: { expect: { poll: { timeout: 20_000 } } },
  },
  tablebase: {
    about: "test/tablebase/python-chess: Syzygy tables of three and four men against python-chess",
    files: ["test/tablebase/python-chess/**/*.test.ts"],
    needs: ["python"],
    options: oneByOne,
  },
  fuzz: {
    about: "test/fuzz: random input for FUZZ_MINUTES=2, from the seed FUZZ_SEED",
    files: ["test/fuzz/**/*.fuzz.test.ts"],
    needs: ["native", "python"],
    onlyAtNight: true,
    options: {
      env: { FUZZ_SEED, FUZZ_MINUTES },
      // They share the time that is given to them all, and want the machine for themselves.
      fileParallelism: false,
      testTimeout: (Number(FUZZ_MINUTES) + 60) * minuteMs,
      hookTimeout: 2 * minuteMs,
      disableConsoleIntercept: true,
    },
  },
  older: {
    about: "test/older: an older engine version, installed from npm beside the newest",
    files: ["test/older/**/*.test.ts"],
    needs: [],
    install: ["test/older/install-stockfish-18.ts"],
    onlyAtNight: true,
  },
  unit: {
    about: "tests that import nothing that opens a port or a database, or starts a process",
    files: units,
    needs: [],
    options: { ...quick, pool: "threads" },
  },
  service: {
    about: "all other tests",
    files: ["test/**/*.test.ts"],
    needs: serviceNeeds,
    options: {
      ...quick,
      // Nearly all of it runs a few times only: what TurboFan makes of it costs more than it saves, 46 s of CPU instead of 43
      // for the calls through every protocol. Not of the processes that tests start.
      execArgv: ["--no-opt"],
    },
  },
} satisfies Readonly<Record<string, Lane>>;

export type LaneName = keyof typeof table;

export const lanes: Readonly<Record<LaneName, Lane>> = table;

export const laneNames = Object.keys(lanes) as readonly LaneName[];

/** The lanes of `npm test`. */
export const quickLanes: readonly LaneName[] = ["unit", "service"];

export const isLaneName = (name: string): name is LaneName => Object.hasOwn(lanes, name);

export const commandOf = (name: LaneName) =>
  quickLanes.includes(name) ? "npm test" : `npm run lane -- ${name}`;

/** Returns the lane of a test file, or undefined if the file is in none. */
export function laneOf(file: string): LaneName | undefined {
  return laneNames.find((name) => lanes[name].files.some((glob) => matchesGlob(file, glob)));
}

/** Returns the project of vitest that runs a lane. */
export function projectOf(name: LaneName) {
  const { files, needs, install = [], start = [], options } = lanes[name];
  const earlier = laneNames.slice(0, laneNames.indexOf(name));
  return {
    extends: true as const,
    test: {
      ...usual,
      ...options,
      name,
      include: [...files],
      exclude: earlier.flatMap((other) => lanes[other].files),
      globalSetup: [...install, "test/support/require-components.ts", ...start],
      provide: { needs },
    },
  };
}
