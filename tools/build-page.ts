/**
 * Builds `dist/web/` in a temporary folder, so that no server reads half of it and two builds do not collide. Part of `npm run
 * build`; a server in a checkout also runs it if the page is missing or older than its sources.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { chmod, mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { setPriority } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import { build } from "vite";

const dist = fileURLToPath(new URL("../dist", import.meta.url));
const place = join(dist, "web");
const begun = new Date();
// Run with low priority, because a server may run at the same time.
setPriority(10);
/** In milliseconds. An older temporary folder was left by a build that was killed: a build takes far less time. */
const leftAfterMs = 10 * 60_000;

await mkdir(dist, { recursive: true });
await removeLeft();
let folder = "";
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.once(signal, () => {
    // Retry, because threads of the bundler may still write to the folder.
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    process.kill(process.pid, signal);
  });
}
// With any other value, as in tests, Vite and libraries would add checks for developers.
process.env.NODE_ENV = "production";
// A folder can be renamed only within a file system. Made synchronously, so that the signal handler knows its name.
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
  // Let every user read the folder, because the server may run as another user than the build.
  await chmod(folder, 0o755);
  // A source that is saved during the build must be newer than the page.
  await utimes(join(folder, "index.html"), begun, begun);
  await replace();
} finally {
  await rm(folder, { recursive: true, force: true });
}

async function removeLeft(): Promise<void> {
  for (const name of await readdir(dist)) {
    const path = join(dist, name);
    // Ignore a folder that another build removes at the same time.
    const mtimeMs = name.startsWith(".web-")
      ? await stat(path).then(
          (is) => is.mtimeMs,
          () => Infinity,
        )
      : Infinity;
    if (mtimeMs < begun.getTime() - leftAfterMs) {
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
      await rm(old, { recursive: true });
    } catch (error) {
      throwUnless(error, "ENOENT");
    }
    try {
      await rename(folder, place);
      return;
    } catch (error) {
      // Try again: another build has just put its page there, which may be older than this one.
      throwUnless(error, "ENOTEMPTY", "EEXIST");
    }
  }
}

function throwUnless(error: unknown, ...codes: readonly string[]): void {
  if (!(error instanceof Error && "code" in error && codes.includes(String(error.code)))) {
    throw error;
  }
}
