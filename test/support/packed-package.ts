import { globSync, readFileSync, statSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildOnce, sourcesOf } from "./build-once.ts";
import { type Packed, packInto, readPacked } from "./npm-package.ts";
import { packableCheckout, packageParts } from "./packable-checkout.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

/**
 * Returns the npm package of this checkout: the tarball in `release/` if it is newer than all its sources, otherwise a tarball
 * from the cache of tools, which is packed once for each content of the sources.
 */
export async function packedPackage(): Promise<Packed> {
  const released = tarballIn(join(root, "release"));
  // Folders too: a deleted file shows only there.
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

/** 0 if there is no such file. */
function timeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

function tarballIn(folder: string): string {
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  return join(folder, `kibitz-chess-${version}.tgz`);
}
