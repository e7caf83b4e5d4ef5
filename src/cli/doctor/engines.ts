import type { EngineVersion } from "../../engine/catalog.ts";
import type { EngineBuild, SearchJob } from "../../engine/engine.ts";
import type { Engines } from "../../engine/engines.ts";
import type { Guard } from "../../engine/sandbox/links.ts";
import { createSandbox } from "../../engine/sandbox/sandbox.ts";
import { selfTest, speedTest } from "../../engine/self-test.ts";
import { type Log, silentLog } from "../../log/log.ts";
import { openEngines } from "../../wiring/engines.ts";
import type { Config } from "../../wiring/settings.ts";
import { countOf } from "../report.ts";
import { bad, type Finding, good, messageOf, note } from "./finding.ts";

const namespaces = "Install util-linux (unshare), and let the server make user namespaces";

/** What to do about a missing protection. */
const adviceOn: Readonly<Record<Guard, string>> = {
  user: "Start the server as a user that has nothing else.",
  keys: `${namespaces}; or start it as root: engines then run as nobody, who cannot read the keys.`,
  network: `${namespaces}; or keep the whole container from the network.`,
  writes: "Install util-linux (prlimit).",
  privileges: "Install util-linux (setpriv).",
  limits: "Install util-linux (prlimit).",
  "ends with the server": "Install util-linux (setpriv).",
};

/** Reports each protection of the engines' sandbox, and how to get a missing one. */
export async function* lookAtSandbox(config: Config): AsyncIterable<Finding> {
  try {
    const { user, holds, lacks } = await createSandbox({
      userName: config.engineUser,
      hide: config.dataDir,
    });
    yield good("sandbox", user ? `engines run as ${user.name}` : "engines run as the server's own user");
    for (const guard of holds) {
      yield good("sandbox", `${guard}: holds`);
    }
    for (const guard of lacks) {
      yield note("sandbox", `${guard}: does not hold`, adviceOn[guard]);
    }
  } catch (error) {
    yield bad("sandbox", messageOf(error), "KIBITZ_ENGINE_USER names the user that engines run as.");
  }
}

/**
 * Nodes a second of one thread on the machine of docs/benchmarks.md (a shared core of an AMD EPYC): what runs at a third of it
 * has no core for itself, or runs without the instructions that it was built for.
 */
const usualNps = { native: 700_000, lite: 580_000, full: 400_000 } as const;
const slowShare = 1 / 3;

/** Every engine that is found: what it is, whether it is sound, and how fast. */
export async function* lookAtEngines(config: Config, signal: AbortSignal): AsyncIterable<Finding> {
  let engines: Engines;
  const leftOut: Finding[] = [];
  try {
    engines = await openEngines(config, logOfLeftOut(leftOut), signal);
    yield* leftOut;
  } catch (error) {
    signal.throwIfAborted();
    yield* leftOut;
    yield bad(
      "engines",
      messageOf(error),
      "`npm install` brings Stockfish; KIBITZ_NATIVE_ENGINES names binaries of your own.",
    );
    return;
  }
  try {
    const { versions, latest } = engines.catalog;
    for (const version of versions) {
      for (const build of version.builds) {
        yield* lookAtBuild(build, isMeant(build, version, latest), engines, config, signal);
      }
    }
  } finally {
    await engines[Symbol.asyncDispose]();
  }
}

/** Keeps what the log is told of engines that are no engines: what the operator has named, or what was found, is not there. */
function logOfLeftOut(findings: Finding[]): Log {
  return {
    ...silentLog,
    warn({ file, error }, message) {
      if (file !== undefined) {
        const found = `${file}: ${message} (${error})`;
        findings.push(
          note(
            "engines",
            found,
            "The service starts without it: mend the file, or name another one in KIBITZ_NATIVE_ENGINES.",
          ),
        );
      }
    },
  };
}

const isMeant = (build: EngineBuild, version: EngineVersion, latest: EngineVersion) =>
  version === latest && build === latest.defaultBuild;

async function* lookAtBuild(
  build: EngineBuild,
  isDefault: boolean,
  engines: Engines,
  { threads }: Config,
  signal: AbortSignal,
): AsyncIterable<Finding> {
  const { id, path, name, net, settings } = build;
  const tested = { search: (job: SearchJob, ended: AbortSignal) => engines.search(build, job, ended) };
  try {
    const digest = build.sha256.slice(0, 12);
    yield good("engines", `${id} (${path}): ${name}, sha256 ${digest}…${isDefault ? ", the default" : ""}`);
    await selfTest(tested, threads, signal);
    yield good("engines", `${id} (${path}): passes its self-test`);
    if (!build.reproducible && settings.threads === 1) {
      const found = `${id} (${path}): equal searches differ`;
      yield note(
        "engines",
        found,
        "It is used, but none of its answers is deterministic, and none is stored.",
      );
    }
    const nps = await speedTest(tested, signal);
    const usual = usualNps[path === "native" ? "native" : net] * threads;
    const found = `${id} (${path}): ${countOf(nps)} nodes a second; ${countOf(usual)} are usual`;
    yield nps < usual * slowShare
      ? note(
          "engines",
          found,
          "Something else takes the processor, or the binary is not built for it: give each slot a core of its own.",
        )
      : good("engines", found);
  } catch (error) {
    signal.throwIfAborted();
    yield bad("engines", `${id} (${path}): ${messageOf(error)}`, `Replace the file: ${build.file}`);
  }
}
