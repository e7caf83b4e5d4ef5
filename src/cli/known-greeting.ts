import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import manifest from "../../package.json" with { type: "json" };
import { stateOfEngineFiles } from "../engine/engine-files.ts";
import { loadConfig } from "../wiring/config.ts";
import { cacheFolderOf } from "./cache-folder.ts";
import type { CommandInput } from "./command.ts";

/** The answer to `uci` at the last start with the same engines. A chess program gets it before an engine has started. */
export interface KnownGreeting {
  /** Undefined at the first start, after a change of the engines, and if the file is damaged. */
  readonly lines: readonly string[] | undefined;
  keep(lines: readonly string[]): Promise<void>;
}

/** The name of the file is a digest of everything that decides which engine answers. */
export async function readKnownGreeting({
  values,
  host,
}: Pick<CommandInput, "values" | "host">): Promise<KnownGreeting> {
  const config = loadConfig(host.env);
  const { nativeEngines, searchPath, defaultEngine, threads, dataDir } = config;
  const engineFiles = await stateOfEngineFiles({ files: nativeEngines, searchPath });
  const choice = [manifest.version, values.engine, values.path, defaultEngine, threads, engineFiles];
  const folder = host.env.KIBITZ_DATA_DIR ? dataDir : cacheFolderOf(host);
  const file = join(folder, `uci-${digestOf(JSON.stringify(choice)).slice(0, 32)}`);
  const content = await readFile(file, "utf8").catch(() => "");
  const [digest, ...lines] = content.split("\n");
  return {
    lines: digest === digestOf(lines.join("\n")) ? lines : undefined,
    async keep(kept) {
      const text = kept.join("\n");
      try {
        // Import this only here, because a start must be quick.
        const { makeFolder } = await import("../storage/sqlite/database.ts");
        makeFolder(folder);
        await writeFile(file, `${digestOf(text)}\n${text}`, { mode: 0o600 });
      } catch {
        // The folder cannot be written, or the disk is full: the next start waits for its engine again.
      }
    },
  };
}

function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
