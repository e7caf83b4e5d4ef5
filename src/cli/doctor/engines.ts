import type { Catalog } from "../../engine/catalog.ts";
import type { EngineBuild, SearchJob } from "../../engine/engine.ts";
import type { Engines } from "../../engine/engines.ts";
import type { Guard } from "../../engine/sandbox/links.ts";
import { createSandbox } from "../../engine/sandbox/sandbox.ts";
import { selfTest } from "../../engine/self-test.ts";
import { type Log, silentLog } from "../../log/log.ts";
import { openEngines } from "../../wiring/engines.ts";
import type { Config } from "../../wiring/settings.ts";
import { bad, type Finding, good, messageOf, note } from "./finding.ts";

const namespaces = "Install util-linux (unshare), and let the server make user namespaces";

/** The way to get a missing protection. */
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
export async function* checkSandbox(config: Config): AsyncIterable<Finding> {
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

/** Each engine with its self-test, and whether `latest` could be faster. */
export async function* checkEngines(config: Config, signal: AbortSignal): AsyncIterable<Finding> {
  const leftOut: Finding[] = [];
  try {
    await using engines = await openEngines(config, logOfLeftOut(leftOut), signal);
    yield* leftOut.splice(0);
    const { versions, latest } = engines.catalog;
    for (const build of versions.flatMap(({ builds }) => builds)) {
      yield await buildFinding(build, build === latest.defaultBuild, engines, config, signal);
    }
    yield* checkLatest(engines.catalog);
  } catch (error) {
    signal.throwIfAborted();
    yield* leftOut;
    const advice = "`npm install` brings Stockfish; KIBITZ_NATIVE_ENGINES names binaries of your own.";
    yield bad("engines", messageOf(error), advice);
  }
}

/** Collects the files that the log reports as no engines. */
function logOfLeftOut(findings: Finding[]): Log {
  const advice =
    "The service starts without it: replace the file, or name another one in KIBITZ_NATIVE_ENGINES.";
  return {
    ...silentLog,
    warn({ file, error }, message) {
      if (file !== undefined) {
        findings.push(note("engines", `${file}: ${message} (${error})`, advice));
      }
    },
  };
}

async function buildFinding(
  build: EngineBuild,
  isDefault: boolean,
  engines: Engines,
  { threads }: Config,
  signal: AbortSignal,
): Promise<Finding> {
  const { id, path, name, settings } = build;
  const search = (job: SearchJob, ended: AbortSignal) => engines.search(build, job, ended);
  try {
    const digest = build.sha256.slice(0, 12);
    await selfTest({ search }, threads, signal);
    const found = `${id} (${path}): ${name}, sha256 ${digest}…, passes its self-test${isDefault ? "; the default" : ""}`;
    return build.reproducible || settings.threads > 1
      ? good("engines", found)
      : note(
          "engines",
          `${found}; equal searches differ`,
          "It is used, but none of its answers is deterministic, and none is stored.",
        );
  } catch (error) {
    signal.throwIfAborted();
    return bad("engines", `${id} (${path}): ${messageOf(error)}`, `Replace the file: ${build.file}`);
  }
}

/** Makers of Stockfish publish native builds for these processors, on Linux, macOS and Windows. */
const nativeProcessors: readonly string[] = ["x64", "arm64"];

/** Notes that `latest` is WebAssembly although a native build would run here, and how to get one. */
export function* checkLatest(
  { latest, versions }: Pick<Catalog, "latest" | "versions">,
  processor: string = process.arch,
): Iterable<Finding> {
  if (latest.defaultBuild.path === "native" || !nativeProcessors.includes(processor)) {
    return;
  }
  const native = versions.find(({ defaultBuild }) => defaultBuild.path === "native");
  const version = latest.defaultBuild.version;
  const official = `name an official Stockfish ${version} (https://stockfishchess.org/download) in KIBITZ_NATIVE_ENGINES`;
  const other = native
    ? `or make ${native.id}, which is native, the default with KIBITZ_DEFAULT_ENGINE`
    : "or install Debian's package `stockfish`, which is found under its own version, and make that the default with KIBITZ_DEFAULT_ENGINE";
  yield note(
    "engines",
    `latest is ${latest.id} in WebAssembly; a native build would run here, nearly twice as fast`,
    `To get one, ${official}; ${other}.`,
  );
}
