import { glob, stat, writeFile } from "node:fs/promises";

interface Build {
  /** A file that says when it was last done. */
  readonly stamp: string;
  /** Patterns of the files that it depends on. */
  readonly sources: readonly string[];
  /** Files that are there after it. */
  readonly products: readonly string[];
  build(): Promise<void>;
}

/** Builds if a product is missing or a source is newer than the last time. */
export async function buildIfStale({ stamp, sources, products, build }: Build): Promise<void> {
  const made = await Promise.all([stamp, ...products].map(timeOf));
  const files = await Array.fromAsync(glob(sources));
  const changed = Math.max(...(await Promise.all(files.map(timeOf))));
  const [lastMade = 0] = made;
  if (made.includes(0) || changed >= lastMade) {
    await build();
    await writeFile(stamp, "");
  }
}

/** 0 where there is no such file. */
async function timeOf(path: string): Promise<number> {
  return (await stat(path).catch(() => ({ mtimeMs: 0 }))).mtimeMs;
}
