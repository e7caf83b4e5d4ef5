import { basename, dirname } from "node:path";
import { installFoldersIn } from "../../engine/backends/native/install-folders.ts";
import type { Catalog } from "../../engine/catalog.ts";
import type { EngineBuild, SearchJob } from "../../engine/engine.ts";
import type { Engines } from "../../engine/engines.ts";
import { profileOf } from "../../engine/profiles.ts";
import type { Guard } from "../../engine/sandbox/links.ts";
import { createSandbox } from "../../engine/sandbox/sandbox.ts";
import { selfTest } from "../../engine/self-test.ts";
import { silentLog } from "../../log/log.ts";
import { openEngines } from "../../wiring/engines.ts";
import type { Config } from "../../wiring/settings.ts";
import { installCommand, wouldInstallHelp } from "../engines/install-hint.ts";
import { bad, type Finding, good, messageOf, note } from "./finding.ts";

const namespaces = "Install util-linux (unshare), and let the server make user namespaces";

const adviceOn: Readonly<Record<Guard, string>> = {
  user: "Start the server as a user of its own that can read nothing else.",
  keys: `${namespaces}; or start it as root: engines then run as nobody, who cannot read the keys.`,
  network: `${namespaces}; or keep the whole container from the network.`,
  writes: "Install util-linux (prlimit).",
  privileges: "Install util-linux (setpriv).",
  limits: "Install util-linux (prlimit).",
  "ends with the server": "Install util-linux (setpriv).",
};

export async function* checkSandbox({ engineUser, dataDir }: Config): AsyncIterable<Finding> {
  try {
    const { user, holds, lacks } = await createSandbox({ userName: engineUser, hide: dataDir });
    const found = `engines run as ${user?.name ?? "the server's own user"}`;
    yield good("sandbox", `${found}; it guards: ${holds.join(", ") || "nothing"}`);
    for (const guard of lacks) {
      yield note("sandbox", `${guard}: does not hold`, adviceOn[guard]);
    }
  } catch (error) {
    yield bad("sandbox", messageOf(error), "KIBITZ_ENGINE_USER names the user that engines run as.");
  }
}

export async function* checkEngines(config: Config, signal: AbortSignal): AsyncIterable<Finding> {
  const leftOut: Finding[] = [];
  const log: typeof silentLog = {
    ...silentLog,
    warn({ engine, file, error }, message) {
      if (file !== undefined) {
        const setting = engine === undefined ? "KIBITZ_NATIVE_ENGINES" : "KIBITZ_ENGINES";
        const way = isInstalled(String(file), config)
          ? `delete it with \`kibitz engines remove ${basename(String(file))}\`, and install the engine again`
          : `replace the file, or correct ${setting}`;
        const advice = `The service starts without it: ${way}.`;
        const name = engine === undefined ? "" : `${engine}, `;
        leftOut.push(note("engines", `${name}${file}: ${message} (${error})`, advice));
      }
    },
  };
  try {
    await using engines = await openEngines(config, log, signal);
    yield* leftOut.splice(0);
    for (const build of engines.catalog.versions.flatMap(({ builds }) => builds)) {
      if (build.unavailableReason !== undefined) {
        continue;
      }
      yield await buildFinding(build, engines, signal);
    }
    yield* checkLatest(engines.catalog, config);
  } catch (error) {
    signal.throwIfAborted();
    yield* leftOut;
    const advice = "`npm install` brings Stockfish; KIBITZ_NATIVE_ENGINES names binaries of your own.";
    yield bad("engines", messageOf(error), advice);
  }
}

/** True if `kibitz engines install` has installed the file. */
function isInstalled(file: string, { dataHome }: Pick<Config, "dataHome">): boolean {
  return Object.values(installFoldersIn(dataHome)).includes(dirname(file));
}

async function buildFinding(
  build: EngineBuild,
  { catalog, search }: Engines,
  signal: AbortSignal,
): Promise<Finding> {
  const { id, path, name } = build;
  const { threads } = build.settings;
  const profile = profileOf(build.family);
  try {
    const session = { search: (job: SearchJob, ended: AbortSignal) => search(build, job, ended) };
    await selfTest(session, profile, threads, signal);
  } catch (error) {
    signal.throwIfAborted();
    return bad("engines", `${id} (${path}): ${messageOf(error)}`, `Replace the file: ${build.file}`);
  }
  const isDefault = build === catalog.latest.defaultBuild;
  const found = `${id} (${path}): ${name}, sha256 ${build.sha256.slice(0, 12)}…, passes its self-test${isDefault ? "; the default" : ""}`;
  // Read the reason only after a search, because the first start of an engine may fail.
  if (build.slowerBecause !== undefined) {
    const advice = "The answers are equal. The faster build needs Node 26 and @lichess-org/stockfish-web.";
    return note("engines", `${found}; a faster build does not run: ${build.slowerBecause}`, advice);
  }
  return build.reproducible || threads > 1 || !profile.isReproducible
    ? good("engines", found)
    : note("engines", `${found}; equal searches differ`, "Its answers are not deterministic and not stored.");
}

const nativeProcessors: readonly string[] = ["x64", "arm64"];

/** Suggests a native build if `latest` is a WebAssembly build on a processor for which native builds exist. */
export function* checkLatest(
  catalog: Pick<Catalog, "latest" | "versions" | "usable">,
  config: Pick<Config, "nativeEngines">,
  processor: string = process.arch,
  isInstallable = wouldInstallHelp,
): Iterable<Finding> {
  const { latest, usable } = catalog;
  if (latest.defaultBuild.path === "native" || !nativeProcessors.includes(processor)) {
    return;
  }
  if (latest.builds.some(({ path }) => path === "native")) {
    yield note(
      "engines",
      `latest is ${latest.id} in WebAssembly, because the search of the native ${latest.id} differs`,
      "Replace the native build by an official one.",
    );
    return;
  }
  const { family } = latest.defaultBuild;
  // Another family is no replacement: Maia, for example, answers human moves.
  const native = usable.find(
    ({ defaultBuild }) => defaultBuild.path === "native" && defaultBuild.family === family,
  );
  const other = native
    ? `make ${native.id}, which is native, the default with KIBITZ_DEFAULT_ENGINE`
    : "install Debian's package `stockfish`, and make its version the default with KIBITZ_DEFAULT_ENGINE";
  yield note(
    "engines",
    `latest is ${latest.id} in WebAssembly; a native build would run here and be faster`,
    isInstallable(catalog, config)
      ? `Run \`${installCommand}\`, and restart the server.`
      : `Name an official Stockfish ${latest.defaultBuild.version} (https://stockfishchess.org/download) in KIBITZ_NATIVE_ENGINES; or ${other}.`,
  );
}
