/**
 * Builds the page into `dist/web/`: into a folder of its own first, so that a server never reads half of it, and two builds at a
 * time do not meet. Part of `npm run build`; a server in a checkout runs it where the page is missing or older than its sources.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { chmod, mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import { build } from "vite";

const dist = fileURLToPath(new URL("../dist", import.meta.url));
const place = join(dist, "web");
const begun = new Date();
/** Far longer than a build takes: what is as old was left by one that was killed. */
const leftAfterMs = 10 * 60_000;

await mkdir(dist, { recursive: true });
await removeLeft();
let folder = "";
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.once(signal, () => {
    // It may be written to meanwhile, by threads of the bundler.
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
    process.kill(process.pid, signal);
  });
}
// The same page whoever builds it: Vite and libraries add checks for developers if this says otherwise, as it does in tests.
process.env.NODE_ENV = "production";
// Beside its place: only within one file system is a folder renamed. In one piece with knowing its name.
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
  // Whoever serves it need not be who has built it.
  await chmod(folder, 0o755);
  // What is saved while a build runs is newer than what was built.
  await utimes(join(folder, "index.html"), begun, begun);
  await replace();
} finally {
  await rm(folder, { recursive: true, force: true });
}

/** What builds have left that could not clean up behind themselves. */
async function removeLeft(): Promise<void> {
  for (const name of await readdir(dist)) {
    const path = join(dist, name);
    // Another build may be removing it, too.
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
