import { createHash } from "node:crypto";
import { statSync } from "node:fs";
import { open } from "node:fs/promises";
import { type EngineBuild, EngineFailure } from "./engine.ts";

export type FileIntegrity = Pick<EngineBuild, "sha256" | "assertUnchanged" | "assertGenuine">;

/** The expected SHA-256 digests of a build's files, in lower-case hexadecimal. */
export interface Pin {
  readonly digested: string;
  readonly alongside: string;
}

/** Computes `sha256` of the files `digested`. The methods also check the files `alongside`, such as a loader. */
export async function fingerprintFiles(
  digested: readonly string[],
  alongside: readonly string[] = [],
  pin?: Pin,
): Promise<FileIntegrity> {
  const files = [...digested, ...alongside];
  const digests = async () => ({ digested: await digestOf(digested), alongside: await digestOf(alongside) });
  let stats = statsOf(files);
  const known = pin ?? (await digests());
  async function isKnown(): Promise<boolean> {
    const found = await digests();
    return found.digested === known.digested && found.alongside === known.alongside;
  }
  // Do not read pinned files before the first start: the full network has 99 MB, and reading it would take too long.
  let genuine = pin === undefined;

  return {
    sha256: known.digested,
    async assertUnchanged() {
      const now = statsOf(files);
      if (now !== stats) {
        // Compare the content, because a reinstalled package has new times but the same content.
        if (!(await isKnown())) {
          throw new EngineFailure(
            "no_start",
            `${files.join(", ")}: replaced since this server was started, so not run under the old id; restart the server to list the new one`,
          );
        }
        stats = now;
      }
    },
    async assertGenuine() {
      genuine ||= await isKnown();
      if (!genuine) {
        throw new EngineFailure(
          "no_start",
          `${files.join(", ")}: not the build that this version of Kibitz knows under that id, so not run; npm ci installs the right one`,
        );
      }
    },
  };
}

/** Returns a text that changes if a file is replaced. */
export function statsOf(files: readonly string[]): string {
  try {
    return files
      .map((file) => statSync(file, { bigint: true }))
      .map(({ dev, ino, size, mtimeNs, ctimeNs }) => [dev, ino, size, mtimeNs, ctimeNs].join(":"))
      .join(" ");
  } catch (cause) {
    throw new EngineFailure("no_start", `the engine's file is gone: ${cause}`, { cause });
  }
}

export async function digestOf(paths: readonly string[]): Promise<string> {
  const hash = createHash("sha256");
  // Use one buffer for all chunks: after a stream of 99 MB, the process would keep using more memory.
  const buffer = Buffer.allocUnsafe(256 * 1024);
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
