import { createHash } from "node:crypto";
import { open } from "node:fs/promises";

const chunkBytes = 256 * 1024;

/**
 * SHA-256 in lower-case hex, of a file or of the parts of one put together. One buffer for all of it: a
 * stream of 99 MB would leave the process fat.
 */
export async function digestOf(...paths: readonly string[]): Promise<string> {
  const hash = createHash("sha256");
  const buffer = Buffer.allocUnsafe(chunkBytes);
  for (const path of paths) {
    await using file = await open(path);
    for (;;) {
      const { bytesRead } = await file.read(buffer);
      if (bytesRead === 0) {
        break;
      }
      hash.update(buffer.subarray(0, bytesRead));
    }
  }
  return hash.digest("hex");
}

/** The same, read once and when first asked; again after a failure. */
export function lazyDigestOf(paths: readonly string[]): () => Promise<string> {
  let digest: Promise<string> | undefined;
  return () => {
    digest ??= digestOf(...paths).catch((error) => {
      digest = undefined;
      throw error;
    });
    return digest;
  };
}
