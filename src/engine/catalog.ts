import type { EngineBuild, EnginePath } from "./engine.ts";

/** Resolves the fields `engine` and `path` of a request to a build that discovery found. */
export interface Catalog {
  /** All versions, grouped by family, newest first. The family of `latest` comes first. */
  readonly versions: readonly EngineVersion[];
  /** The version that `latest` means on the path `auto`. */
  readonly latest: EngineVersion;
  resolve(engine: string, path: EnginePath | "auto"): Resolution;
}

/** A version of an engine with one network, which has at most one build for each path. */
export interface EngineVersion {
  readonly id: string;
  /** The build that the path `auto` means. */
  readonly defaultBuild: EngineBuild;
  /** True if all builds of the version are deprecated, which means that a later release removes its id. */
  readonly deprecated: boolean;
  readonly builds: readonly EngineBuild[];
}

type Resolution =
  | { readonly kind: "build"; readonly build: EngineBuild }
  | { readonly kind: "unknown_engine" }
  /** The list `runnable` is empty if the request names `latest`, and no engine runs on the path. */
  | { readonly kind: "path_unavailable"; readonly runnable: readonly EnginePath[] };

/**
 * `auto` depends on the deployment, not on load: it means the native build, unless the version also has a WebAssembly build that
 * is a different engine.
 * `latest` means the newest stable Stockfish, or else that of the first family by name that has a stable version; on a path which
 * this family cannot run, it means another family. `defaultEngine` is the id that it means instead.
 * Throws if there is no build, or no build has the id `defaultEngine`.
 */
export function createCatalog(builds: readonly EngineBuild[], defaultEngine: string | undefined): Catalog {
  const found = versionsFrom(builds);
  const chosen = found.find(({ id }) => id === defaultEngine);
  const families = orderFamilies(found, chosen?.defaultBuild.family ?? "stockfish");
  const versions = families.flat();
  const ids = versions.map(({ id }) => id).join(", ");
  const newest = families.flatMap((family) => [...family.filter(isStable), ...family]);
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
    latest,
    resolve(engine, path) {
      if (engine === "latest") {
        // Find the operator's choice if the path can run it, and else the newest version that the path can run.
        const build = [latest, ...newest]
          .map((version) => buildOf(version, path))
          .find((found) => found !== undefined);
        return build ? { kind: "build", build } : { kind: "path_unavailable", runnable: [] };
      }
      const version = versions.find(({ id }) => id === engine);
      if (version === undefined) {
        return { kind: "unknown_engine" };
      }
      const build = buildOf(version, path);
      return build
        ? { kind: "build", build }
        : { kind: "path_unavailable", runnable: version.builds.map((one) => one.path) };
    },
  };
}

function buildOf(version: EngineVersion, path: EnginePath | "auto"): EngineBuild | undefined {
  return path === "auto" ? version.defaultBuild : version.builds.find((build) => build.path === path);
}

function versionsFrom(builds: readonly EngineBuild[]): readonly EngineVersion[] {
  const byId = Map.groupBy(builds, ({ id }) => id);
  return [...byId].flatMap(([id, same]) => {
    const native = same.find(({ path }) => path === "native");
    const wasm = same.find(({ path }) => path === "wasm");
    const defaultBuild = native && wasm ? (areAlike(native, wasm) ? native : wasm) : (native ?? same[0]);
    const deprecated = same.every(({ deprecatedSince }) => deprecatedSince !== undefined);
    return defaultBuild ? [{ id, defaultBuild, builds: same, deprecated }] : [];
  });
}

/** The family `first` comes first, then those with a stable version, then others, by name; each is sorted newest first. */
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

/** Compares the nodes of the self-test, which vary with several threads. If they differ, the native build was modified. */
function areAlike(native: EngineBuild, wasm: EngineBuild): boolean {
  return native.settings.threads > 1 || native.selfTestNodes === wasm.selfTestNodes;
}

/** A lite network is not stable, because it is used only if a request names it. */
function isStable({ defaultBuild, deprecated }: EngineVersion): boolean {
  return isRelease(defaultBuild.version) && defaultBuild.net === "full" && !deprecated;
}

/** Sorts older before newer, lite networks before full ones, and then by id, so that the order is fixed. */
function compareBuilds(a: EngineBuild, b: EngineBuild): number {
  return (
    compareVersions(a.version, b.version) ||
    Number(a.net === "full") - Number(b.net === "full") ||
    compareText(a.id, b.id)
  );
}

/** `19`, `15.1` and `v0.31.2` are releases; `dev-20260110-3a1b2c4d`, `19-rc1` and `unknown` are not. */
function isRelease(version: string): boolean {
  return /^v?\d{1,16}(\.\d{1,16})*$/.test(version);
}

/** Sorts releases by number: 15.10 after 15.2, 15 equal to 15.0. Other versions come first, by text: a date follows `dev-`. */
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
