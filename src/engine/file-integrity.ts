import { createHash } from "node:crypto";
import { statSync } from "node:fs";
import { open } from "node:fs/promises";
import { EngineFailure } from "./engine.ts";

/** The files of an engine as they were when it was found: its id and its digest are true of those only. */
export interface FileIntegrity {
  /** SHA-256 of the digested files in lower-case hex. Read when first asked: the full network has 99 MB. */
  sha256(): Promise<string>;
  /**
   * At once where they look as they did, else with a promise.
   * @throws EngineFailure of the kind `no_start` if they are others now, or gone.
   */
  assertUnchanged(): Promise<void> | undefined;
  /**
   * That they are what they are known to be, where that is known. Reads all of them, the first time.
   * @throws EngineFailure of the kind `no_start`, as a rejection.
   */
  assertGenuine(): Promise<void>;
}

/** SHA-256 in lower-case hex of what is digested, and of what lies alongside. */
export interface Pin {
  readonly digested: string;
  readonly alongside: string;
}

/**
 * Looks at the files by inode, size and times of change, of which their owner can set only one; that costs nothing.
 * Where those differ, the content decides, if it is known: a file may have been put back, or have got another link.
 *
 * @param digested what the digest is of.
 * @param alongside small files that belong to it, such as the loader of a module.
 * @param pin what both are known to be.
 */
export async function fingerprintFiles(
  digested: readonly string[],
  alongside: readonly string[] = [],
  pin?: Pin,
): Promise<FileIntegrity> {
  const files = [...digested, ...alongside];
  let looks = fingerprintOf(files);
  const small = await digestOf(...alongside);
  let known: string | undefined;

  function assertUnchanged(): Promise<void> | undefined {
    const now = fingerprintOf(files);
    return now === looks ? undefined : compareContent(now);
  }

  async function compareContent(now: string, attempts = 3): Promise<void> {
    const content = known ?? pin?.digested;
    const same =
      content !== undefined &&
      small === (await digestOf(...alongside)) &&
      content === (await digestOf(...digested));
    const later = fingerprintOf(files);
    if (same && later === now) {
      looks = now;
      return;
    }
    // A link more or less while it was read: other programs copy folders of packages so.
    if (same && attempts > 1) {
      return compareContent(later, attempts - 1);
    }
    throw new EngineFailure(
      "no_start",
      `${files.join(", ")}: replaced since this server was started, so not run under the old id; restart the server to list the new one`,
    );
  }

  const digest = lazyDigestOf(digested);
  async function sha256(): Promise<string> {
    if (known === undefined) {
      await assertUnchanged();
      const read = await digest();
      // It may have been replaced while it was read.
      await assertUnchanged();
      known = read;
    }
    return known;
  }

  return {
    assertUnchanged,
    sha256,
    async assertGenuine() {
      if (pin && (pin.alongside !== small || pin.digested !== (await sha256()))) {
        throw new EngineFailure(
          "no_start",
          `${files.join(", ")}: not the build that this version of Kibitz knows under that id, so not run; npm ci installs the right one`,
        );
      }
    },
  };
}

/** In step, as it takes some microseconds: an engine that is to load while this process is busy is started at once. */
function fingerprintOf(files: readonly string[]): string {
  try {
    const looks = files.map((file) => statSync(file, { bigint: true }));
    return looks
      .map(({ dev, ino, size, mtimeNs, ctimeNs }) => [dev, ino, size, mtimeNs, ctimeNs].join(":"))
      .join(" ");
  } catch (cause) {
    throw new EngineFailure("no_start", `the engine's file is gone: ${cause}`, { cause });
  }
}

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
