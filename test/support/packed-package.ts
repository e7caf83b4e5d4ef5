import { globSync, readFileSync, statSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildOnce, sourcesOf } from "./build-once.ts";
import { type Packed, packInto, readPacked } from "./npm-package.ts";
import { packableCheckout, packageParts } from "./packable-checkout.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

/**
 * Returns the npm package of this checkout. Uses the tarball in `release/` if it is newer than all sources, otherwise a tarball
 * in the cache.
 */
export async function packedPackage(): Promise<Packed> {
  const released = tarballIn(join(root, "release"));
  // Folders are included, because a deleted file changes only the time of its folder.
  const sources = globSync(
    packageParts.flatMap((part) => [part, `${part}/**`]),
    { cwd: root },
  );
  if (timeOf(released) > Math.max(...sources.map((source) => timeOf(join(root, source))))) {
    return readPacked(released);
  }
  const { folder } = sourcesOf("package", ...packageParts);
  await buildOnce(folder, async (place) => {
    const checkout = join(place, "checkout");
    packInto(place, packableCheckout(checkout));
    await rm(checkout, { recursive: true });
  });
  return readPacked(tarballIn(folder));
}

/** Returns 0 if the file does not exist. */
function timeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

function tarballIn(folder: string): string {
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  return join(folder, `kibitz-chess-${version}.tgz`);
}
