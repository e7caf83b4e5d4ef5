import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { copyCheckout } from "./copy-checkout.ts";

const here = fileURLToPath(new URL("../..", import.meta.url));

export const packageParts: readonly string[] = [
  ...["bin", "deploy", "examples", "gen", "proto", "src", "third_party", "web"],
  ...["tools/build-page.ts", "tools/manual.ts"],
  ...["LICENSE", "README.md", "buf.yaml", "package.json", "package-lock.json"],
  ...["tsconfig.build.json", "tsconfig.json"],
];

/**
 * Copies everything that builds of the npm package and the web page need, so that a build in the copy does not disturb other
 * tests.
 */
export function packableCheckout(folder: string): string {
  const checkout = copyCheckout(folder, packageParts);
  symlinkSync(join(here, "node_modules"), join(checkout, "node_modules"));
  return checkout;
}
