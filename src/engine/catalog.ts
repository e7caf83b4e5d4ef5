import type { EngineBuild, EnginePath } from "./engine.ts";

/** The engine versions that are there, and what a request's `engine` and `path` mean among them. */
export interface Catalog {
  /** Newest first. */
  readonly versions: readonly EngineVersion[];
  /** What `latest` means on the path `auto`. */
  readonly latest: EngineVersion;
  resolve(engine: string, path: EnginePath | "auto"): Resolution;
}

/** One version with one network, and the builds of it: at most one a path. */
export interface EngineVersion {
  readonly id: string;
  /** The build that `auto` means. */
  readonly defaultBuild: EngineBuild;
  readonly builds: readonly EngineBuild[];
}

export type Resolution =
  | { readonly kind: "build"; readonly build: EngineBuild }
  | { readonly kind: "unknown_engine" }
  /** `runnable` are the paths that the version has; empty if `latest` was asked and the path has no engine. */
  | { readonly kind: "path_unavailable"; readonly runnable: readonly EnginePath[] };

/**
 * `auto` is decided by what is deployed and not by load: native where the version has a native build
 * (which passed its self-test, or it would not be here) that is the same engine as the WebAssembly one,
 * else WebAssembly.
 *
 * @param defaultEngine id that `latest` means; the newest stable version if undefined.
 * @throws Error if there is no build, or `defaultEngine` is not among them.
 */
export function createCatalog(builds: readonly EngineBuild[], defaultEngine: string | undefined): Catalog {
  const versions = versionsFrom(builds);
  const ids = versions.map(({ id }) => id).join(", ");
  const latest =
    defaultEngine === undefined ? newestStable(versions) : versions.find(({ id }) => id === defaultEngine);
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
        // The newest version that the asked path can run, the operator's choice before all others.
        const candidates = [latest, ...versions.filter(isStable), ...versions];
        const build = candidates
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
  return [...byId]
    .flatMap(([id, same]) => {
      const native = same.find(({ path }) => path === "native");
      const wasm = same.find(({ path }) => path === "wasm");
      const defaultBuild = native && wasm ? (areAlike(native, wasm) ? native : wasm) : (native ?? same[0]);
      return defaultBuild ? [{ id, defaultBuild, builds: same }] : [];
    })
    .toSorted((a, b) => compareVersions(b.defaultBuild, a.defaultBuild));
}

/**
 * Whether two builds of one version are one engine: the same search visits the same nodes. Where they
 * are not, somebody has changed the native one, and `auto` stays with the build that is known.
 */
function areAlike(native: EngineBuild, wasm: EngineBuild): boolean {
  return native.selfTestNodes === undefined || native.selfTestNodes === wasm.selfTestNodes;
}

function newestStable(versions: readonly EngineVersion[]): EngineVersion | undefined {
  return versions.find(isStable) ?? versions[0];
}

/** Released, and with the network that it was released with: a lite network is only used when asked for. */
function isStable({ defaultBuild }: EngineVersion): boolean {
  return releaseOf(defaultBuild) !== undefined && defaultBuild.net === "full";
}

/** `19` and `15.1` are releases, `dev-20260110` is not. */
function releaseOf({ version }: EngineBuild): number | undefined {
  return /^\d+(\.\d+)?$/.test(version) ? Number(version) : undefined;
}

/** Older before newer; what is no release before all releases; lite before full; then by id, so that the order is fixed. */
function compareVersions(a: EngineBuild, b: EngineBuild): number {
  return (
    (releaseOf(a) ?? -1) - (releaseOf(b) ?? -1) ||
    Number(a.net === "full") - Number(b.net === "full") ||
    a.id.localeCompare(b.id)
  );
}
