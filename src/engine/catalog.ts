import type { EngineBuild, EnginePath } from "./engine.ts";
import { preferredFamily } from "./profiles.ts";
import { isWeakened } from "./weakened.ts";

export interface Catalog {
  /** Versions of a family are together, newest first. The family of `latest` is first. */
  readonly versions: readonly EngineVersion[];
  /** The versions that were not left out. */
  readonly usable: readonly EngineVersion[];
  /** The version for requests with the engine `latest` and the path `auto`. */
  readonly latest: EngineVersion;
  resolve(engine: string, path: EnginePath | "auto"): Resolution;
}

/** A version of an engine with one neural network. A version has at most one build for each path. */
export interface EngineVersion {
  readonly id: string;
  /** The build for requests with the path `auto`. */
  readonly defaultBuild: EngineBuild;
  /** True if all builds of the version are deprecated. */
  readonly deprecated: boolean;
  readonly builds: readonly EngineBuild[];
}

type Resolution =
  | { readonly kind: "build"; readonly build: EngineBuild }
  | { readonly kind: "unknown_engine" }
  /** The engine was left out. `reason` ends with a full stop. */
  | { readonly kind: "unavailable"; readonly reason: string }
  /** `runnable`: the paths (`wasm`, `native`) on which the requested engine can run. Empty for the engine `latest`. */
  | { readonly kind: "path_unavailable"; readonly runnable: readonly EnginePath[] };

/**
 * The path `auto` means the native build, or the WebAssembly build if the native build was modified.
 * The engine `latest` means `defaultEngine`. Without `defaultEngine`, `latest` means the newest stable Stockfish if possible.
 * Throws if `builds` is empty, or if no build has the id `defaultEngine`.
 */
export function createCatalog(builds: readonly EngineBuild[], defaultEngine: string | undefined): Catalog {
  const found = versionsFrom(builds);
  const chosen = found.find(({ id }) => id === defaultEngine);
  const { unavailableReason } = chosen?.defaultBuild ?? {};
  if (unavailableReason !== undefined) {
    throw new Error(`KIBITZ_DEFAULT_ENGINE is ${defaultEngine}, which was left out: ${unavailableReason}`);
  }
  const families = orderFamilies(found, chosen?.defaultBuild.family ?? preferredFamily);
  const versions = families.flat();
  const usable = versions.filter(isUsable);
  const ids = usable.map(({ id }) => id).join(", ");
  const newest = families
    .map((family) => family.filter(isUsable))
    .flatMap((family) => [...family.filter(isStable), ...family]);
  const latest = defaultEngine === undefined ? newest[0] : chosen;
  if (latest === undefined) {
    throw new Error(
      defaultEngine === undefined
        ? "no engine was found: install the npm package `stockfish`, or set KIBITZ_NATIVE_ENGINES to a UCI binary"
        : `KIBITZ_DEFAULT_ENGINE is ${defaultEngine}, but the available engines are: ${ids}`,
    );
  }

  return {
    versions,
    usable,
    latest,
    resolve(engine, path) {
      if (engine === "latest") {
        // Try the default engine first, and then the other versions, newest first.
        const build = [latest, ...newest]
          .map((version) => buildOf(version, path))
          .find((found) => found !== undefined);
        return build ? { kind: "build", build } : { kind: "path_unavailable", runnable: [] };
      }
      const version = versions.find(({ id }) => id === engine);
      if (version === undefined) {
        return { kind: "unknown_engine" };
      }
      const { unavailableReason: reason } = version.defaultBuild;
      if (reason !== undefined) {
        return { kind: "unavailable", reason };
      }
      const build = buildOf(version, path);
      return build
        ? { kind: "build", build }
        : { kind: "path_unavailable", runnable: version.builds.filter(canRun).map((one) => one.path) };
    },
  };
}

function buildOf(version: EngineVersion, path: EnginePath | "auto"): EngineBuild | undefined {
  return path === "auto"
    ? version.defaultBuild
    : version.builds.find((build) => build.path === path && canRun(build));
}

const canRun = ({ unavailableReason }: EngineBuild) => unavailableReason === undefined;
const isUsable = ({ defaultBuild }: EngineVersion) => canRun(defaultBuild);

function versionsFrom(builds: readonly EngineBuild[]): readonly EngineVersion[] {
  const byId = Map.groupBy(builds, ({ id }) => id);
  return [...byId].flatMap(([id, same]) => {
    const native = same.find((build) => build.path === "native" && canRun(build));
    const wasm = same.find(({ path }) => path === "wasm");
    const defaultBuild = native && wasm ? (areAlike(native, wasm) ? native : wasm) : (native ?? same[0]);
    const deprecated = same.every(({ deprecatedSince }) => deprecatedSince !== undefined);
    return defaultBuild ? [{ id, defaultBuild, builds: same, deprecated }] : [];
  });
}

/** Groups the versions by family, newest first. The family `first` comes first, and families without a stable version last. */
function orderFamilies(
  versions: readonly EngineVersion[],
  first: string,
): readonly (readonly EngineVersion[])[] {
  return [...Map.groupBy(versions, ({ defaultBuild }) => defaultBuild.family)]
    .toSorted(
      ([a, ofA], [b, ofB]) =>
        Number(b === first) - Number(a === first) ||
        Number(ofB.some(isStable)) - Number(ofA.some(isStable)) ||
        compareText(a, b),
    )
    .map(([, family]) => family.toSorted((a, b) => compareBuilds(b.defaultBuild, a.defaultBuild)));
}

/**
 * Compares the numbers of nodes in the self-test, because a modified native build visits other nodes. With several threads, the
 * number always varies.
 */
function areAlike(native: EngineBuild, wasm: EngineBuild): boolean {
  return native.settings.threads > 1 || native.selfTestNodes === wasm.selfTestNodes;
}

/** False for a version with a lite network, or below its full strength, because `latest` prefers a strong engine. */
function isStable({ defaultBuild, deprecated }: EngineVersion): boolean {
  const { version, net, options } = defaultBuild;
  return isRelease(version) && net === "full" && !isWeakened(options) && !deprecated && canRun(defaultBuild);
}

/**
 * Sorts older versions first, then lite networks before full networks, then by id. A described engine is before a found engine
 * of the same version, so that a description alone does not change `latest`.
 */
function compareBuilds(a: EngineBuild, b: EngineBuild): number {
  return (
    compareVersions(a.version, b.version) ||
    Number(a.net === "full") - Number(b.net === "full") ||
    Number(a.launch === undefined) - Number(b.launch === undefined) ||
    compareText(a.id, b.id)
  );
}

/** `19`, `15.1` and `v0.31.2` are releases; `dev-20260110-3a1b2c4d`, `19-rc1` and `unknown` are not. */
function isRelease(version: string): boolean {
  return /^v?\d{1,16}(\.\d{1,16})*$/.test(version);
}

/** 15.10 is newer than 15.2, and 15 equals 15.0. Development builds are older than every release. */
function compareVersions(a: string, b: string): number {
  if (isRelease(a) && isRelease(b)) {
    return byNumber.compare(shortest(a), shortest(b));
  }
  return Number(isRelease(a)) - Number(isRelease(b)) || compareText(a, b);
}

const byNumber = new Intl.Collator("en", { numeric: true });

function shortest(release: string): string {
  return release.replace(/^v|(\.0+)+$/g, "");
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
