/**
 * Builds the page into `dist/web/`: into a folder of its own first, so that a server never reads half of it, and two builds at a
 * time do not meet. Part of `npm run build`; a server in a checkout runs it where the page is missing or older than its sources.
 */
import { chmod, mkdir, mkdtemp, readdir, readFile, rename, rm, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import { build } from "vite";

const dist = fileURLToPath(new URL("../dist", import.meta.url));
const place = join(dist, "web");
const begun = new Date();

await mkdir(dist, { recursive: true });
// Beside its place: only within one file system is a folder renamed.
const folder = await mkdtemp(join(dist, ".web-"));
try {
  await build({
    configFile: fileURLToPath(new URL("../web/vite.config.ts", import.meta.url)),
    logLevel: "warn",
    build: { outDir: folder, emptyOutDir: true },
  });
  for (const file of await readdir(folder, { recursive: true })) {
    await compress(join(folder, file));
  }
  // Whoever serves it need not be who has built it.
  await chmod(folder, 0o755);
  // What is saved while a build runs is newer than what was built.
  await utimes(join(folder, "index.html"), begun, begun);
  await replace();
} finally {
  await rm(folder, { recursive: true, force: true });
}

/** Texts beside themselves, as most browsers want them. */
async function compress(path: string): Promise<void> {
  if (!/\.(css|html|js|svg|txt)$/.test(path)) {
    return;
  }
  const bytes = await readFile(path);
  const params = { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
  await writeFile(`${path}.br`, await promisify(brotliCompress)(bytes, { params }));
  await writeFile(`${path}.gz`, await promisify(gzip)(bytes, { level: constants.Z_BEST_COMPRESSION }));
}

async function replace(): Promise<void> {
  const old = `${folder}-old`;
  for (;;) {
    try {
      await rename(place, old);
      await rm(old, { recursive: true });
    } catch (error) {
      throwUnless(error, "ENOENT");
    }
    try {
      await rename(folder, place);
      return;
    } catch (error) {
      // Another build was quicker by a moment, and its page may be older than ours.
      throwUnless(error, "ENOTEMPTY", "EEXIST");
    }
  }
}

function throwUnless(error: unknown, ...codes: readonly string[]): void {
  if (!(error instanceof Error && "code" in error && codes.includes(String(error.code)))) {
    throw error;
  }
}
