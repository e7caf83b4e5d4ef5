import type { EngineBuild, EnginePath } from "./engine.ts";

/** The engine versions that discovery found. Resolves the fields `engine` and `path` of a request to a build. */
export interface Catalog {
  /** All versions, grouped by family, newest first. The family of `latest` comes first. */
  readonly versions: readonly EngineVersion[];
  /** The version that `latest` means on the path `auto`. */
  readonly latest: EngineVersion;
  resolve(engine: string, path: EnginePath | "auto"): Resolution;
}

/** One version of an engine with one network, and its builds: at most one for each path. */
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
  /**
   * The version has no build for the path. `runnable` lists the paths that it has; it is empty if the request names `latest`, and
   * no engine runs on the path.
   */
  | { readonly kind: "path_unavailable"; readonly runnable: readonly EnginePath[] };

/**
 * Creates the catalog of the builds that discovery found.
 *
 * `auto` depends on the deployment, not on load. It means the native build, unless the version also has a WebAssembly build that
 * is a different engine.
 *
 * `latest` means the newest stable version of Stockfish, whatever version numbers other families have. If there is no Stockfish,
 * it means a version of the first family by name that has a stable version. If the first family cannot run on a path, it means
 * another family on that path.
 *
 * @param defaultEngine the id that `latest` means instead
 * @throws Error if there is no build, or if no build has the id `defaultEngine`
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

/**
 * Groups versions by family, newest first. The family `first` comes first, then families with a stable version, then the others,
 * each by name.
 */
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
 * True if two builds of one version are the same engine, which means that the same search visits the same number of nodes. With
 * several threads these numbers vary, so they are not compared. If the numbers differ, the native build was modified, and `auto`
 * means the WebAssembly build.
 */
function areAlike(native: EngineBuild, wasm: EngineBuild): boolean {
  return native.settings.threads > 1 || native.selfTestNodes === wasm.selfTestNodes;
}

/**
 * True if a version is a release that is not deprecated and has its full network. A lite network is used only if a request names
 * it.
 */
function isStable({ defaultBuild, deprecated }: EngineVersion): boolean {
  return isRelease(defaultBuild.version) && defaultBuild.net === "full" && !deprecated;
}

/** Sorts older builds before newer ones, lite networks before full ones, and then by id, so that the order is fixed. */
function compareBuilds(a: EngineBuild, b: EngineBuild): number {
  return (
    compareVersions(a.version, b.version) ||
    Number(a.net === "full") - Number(b.net === "full") ||
    compareText(a.id, b.id)
  );
}

/**
 * True if a version is a release: `19`, `15.1` and `v0.31.2` are, but `dev-20260110-3a1b2c4d`, `19-rc1` and `unknown` are not.
 */
function isRelease(version: string): boolean {
  return /^v?\d{1,16}(\.\d{1,16})*$/.test(version);
}

/**
 * Compares versions of one family number by number, older before newer: 15.10 comes after 15.2, and 15 equals 15.0. Versions that
 * are not releases come before the releases, in the order of their text, because a date follows `dev-`.
 */
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
