import { createHash } from "node:crypto";
import { open } from "node:fs/promises";

const chunkBytes = 256 * 1024;

/** SHA-256 of a file in lower-case hex. One buffer for all of it: a stream of 99 MB would leave the process fat. */
export async function digestOf(path: string): Promise<string> {
  const hash = createHash("sha256");
  const buffer = Buffer.allocUnsafe(chunkBytes);
  await using file = await open(path);
  for (;;) {
    const { bytesRead } = await file.read(buffer);
    if (bytesRead === 0) {
      return hash.digest("hex");
    }
    hash.update(buffer.subarray(0, bytesRead));
  }
}

/** The same, read once and when first asked. */
export function lazyDigestOf(path: string): () => Promise<string> {
  let digest: Promise<string> | undefined;
  return () => {
    digest ??= digestOf(path);
    return digest;
  };
}
