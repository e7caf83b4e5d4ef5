import type { Catalog } from "../../engine/catalog.ts";
import type { Config } from "../../wiring/settings.ts";
import { officialRelease, type Release } from "./official-release.ts";

interface Machine {
  readonly platform: string;
  readonly arch: string;
  /** The version of the GNU C library. Undefined on a system that does not have this library. */
  readonly glibc: string | undefined;
}

export const installCommand = "kibitz engines install";

/** Returns true if {@link installCommand} would make the native build the engine `latest`. */
export function wouldInstallHelp(
  { latest }: Pick<Catalog, "latest">,
  { nativeEngines }: Pick<Config, "nativeEngines">,
  { id, builds, glibc }: Release = officialRelease,
  machine: Machine = thisMachine(),
): boolean {
  return (
    latest.id === id &&
    latest.builds.every(({ path }) => path === "wasm") &&
    nativeEngines === undefined &&
    builds[`${machine.platform}-${machine.arch}`] !== undefined &&
    (machine.platform !== "linux" || isAtLeast(machine.glibc, glibc))
  );
}

function thisMachine(): Machine {
  const report: { excludeNetwork?: boolean; getReport(): object } = process.report;
  // Otherwise, Node would look up the names of all open connections.
  report.excludeNetwork = true;
  const { header } = report.getReport() as { header: { glibcVersionRuntime?: string } };
  return { platform: process.platform, arch: process.arch, glibc: header.glibcVersionRuntime };
}

function isAtLeast(version: string | undefined, least: string): boolean {
  return version !== undefined && version.localeCompare(least, "en", { numeric: true }) >= 0;
}
