/** Builds the page. Renames a temporary folder to `dist/web/`, so that a server never reads an incomplete page. */
import { mkdtempSync, rmSync } from "node:fs";
import { chmod, mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { getPriority, setPriority } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import { build } from "vite";

const dist = fileURLToPath(new URL("../dist", import.meta.url));
const place = join(dist, "web");
const begun = new Date();
// Run with low priority, because a server may run at the same time. Only root may raise a priority.
setPriority(Math.max(10, getPriority()));
/** The age in milliseconds at which the temporary folder of a killed build is deleted. */
const abandonedAfterMs = 10 * 60_000;

await mkdir(dist, { recursive: true });
await removeAbandoned();
let folder = "";
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.once(signal, () => {
    // Retry, because threads of the bundler may still write to the folder.
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    process.kill(process.pid, signal);
  });
}
// In tests, NODE_ENV has another value, and Vite would build a development version.
process.env.NODE_ENV = "production";
// Use `dist/`, because a folder cannot be renamed to another file system.
folder = mkdtempSync(join(dist, ".web-"));
try {
  await build({
    configFile: fileURLToPath(new URL("../web/vite.config.ts", import.meta.url)),
    logLevel: "warn",
    build: { outDir: folder, emptyOutDir: true },
  });
  for (const file of await readdir(folder, { recursive: true })) {
    await compress(join(folder, file));
  }
  // The server may run as another user than the build.
  await chmod(folder, 0o755);
  // Set the time to the start of the build, so that a source that was saved during the build is newer than the page.
  await utimes(join(folder, "index.html"), begun, begun);
  await replace();
} finally {
  await rm(folder, { recursive: true, force: true });
}

async function removeAbandoned(): Promise<void> {
  for (const name of await readdir(dist)) {
    const path = join(dist, name);
    // Ignore a folder that another build has removed in the meantime.
    const mtimeMs = name.startsWith(".web-")
      ? await stat(path).then(
          (is) => is.mtimeMs,
          () => Infinity,
        )
      : Infinity;
    if (mtimeMs < begun.getTime() - abandonedAfterMs) {
      await rm(path, { recursive: true, force: true });
    }
  }
}

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
    } catch (error) {
      throwUnless(error, "ENOENT");
    }
    try {
      await rename(folder, place);
      return;
    } catch (error) {
      // Try again: another build has just created the folder `dist/web/`, possibly with an older page.
      throwUnless(error, "ENOTEMPTY", "EEXIST");
    } finally {
      // Delete the old page last, so that a page is missing only between the two renames.
      await rm(old, { recursive: true, force: true });
    }
  }
}

function throwUnless(error: unknown, ...codes: readonly string[]): void {
  if (!(error instanceof Error && "code" in error && codes.includes(String(error.code)))) {
    throw error;
  }
}
