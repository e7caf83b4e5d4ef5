import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** The folder that users copy. */
export function examplesOf(language: string): string {
  return join(root, "examples", language);
}

/** The folder of the probe. */
export function probeOf(language: string): string {
  return join(root, "test/clients", language);
}

/** Where everything goes that is built and need not stay. */
export function cacheOf(language: string): string {
  return join(root, "node_modules/.cache/clients", language);
}

/** buf, as npm has installed it for development. */
export const buf = join(root, "node_modules/.bin/buf");

/** Pattern of the files that every client is generated from. */
export const protoFiles = join(root, "{proto,third_party}/**/*.proto");
