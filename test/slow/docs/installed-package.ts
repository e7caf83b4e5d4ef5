import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { buildOnce, sourcesOf } from "../../support/build-once.ts";
import { packageParts } from "../../support/packable-checkout.ts";
import { packedPackage } from "../../support/packed-package.ts";

/**
 * Returns a folder that contains `usr/local` after `npm install --global` of the package, with the Node of this run: an installation
 * needs a newer Node than a checkout.
 */
export async function installedPackage(): Promise<string> {
  const { folder } = sourcesOf("installed-package", ...packageParts);
  await buildOnce(folder, async (place) => {
    const prefix = join(place, "usr/local");
    const { path } = await packedPackage();
    execFileSync("npm", ["install", "--global", "--no-audit", "--no-fund", "--prefix", prefix, path], {
      stdio: "pipe",
    });
    mkdirSync(join(prefix, "bin"), { recursive: true });
    cpSync(process.execPath, join(prefix, "bin/node"));
  });
  return folder;
}
