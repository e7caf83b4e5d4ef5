import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import manifest from "../../package.json" with { type: "json" };
import { stateOfEngineFiles } from "../engine/engine-files.ts";
import { loadConfig } from "../wiring/config.ts";
import { cacheFolderOf } from "./cache-folder.ts";
import type { CommandInput } from "./command.ts";

/** The stored answer to the command `uci`. A chess program gets this answer before an engine has started. */
export interface KnownGreeting {
  /** Undefined if no answer is stored for the present engines, or if the stored file is damaged. */
  readonly lines: readonly string[] | undefined;
  keep(lines: readonly string[]): Promise<void>;
}

/** Reads the stored answer. The file name contains a digest of the engine files and of all settings that select the engine. */
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
        // Import this module only here, so that the command starts quickly.
        const { makeFolder } = await import("../storage/sqlite/database.ts");
        makeFolder(folder);
        await writeFile(file, `${digestOf(text)}\n${text}`, { mode: 0o600 });
      } catch {
        // Ignore a failed write: without the file, the next start waits for its engine.
      }
    },
  };
}

function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
