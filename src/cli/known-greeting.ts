import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import manifest from "../../package.json" with { type: "json" };
import { stateOfEngineFiles } from "../engine/engine-files.ts";
import { loadConfig } from "../wiring/config.ts";
import { readDescribedEngines } from "../wiring/read-described-engines.ts";
import { cacheFolderOf } from "./cache-folder.ts";
import type { CommandInput } from "./command.ts";

/** The stored answer to the command `uci`, which is sent before an engine has started. */
export interface KnownGreeting {
  /** Undefined if no answer is stored, or if the engines have changed since the answer was stored. */
  readonly lines: readonly string[] | undefined;
  keep(lines: readonly string[]): Promise<void>;
}

/** The stored answer is valid only while the engine files, and the settings that select the engine, stay the same. */
export async function readKnownGreeting({
  values,
  host,
}: Pick<CommandInput, "values" | "host">): Promise<KnownGreeting> {
  const config = loadConfig(host.env);
  const { nativeEngines, searchPath, dataHome, defaultEngine, threads, dataDir } = config;
  const engineFiles = await stateOfEngineFiles({
    files: nativeEngines,
    searchPath,
    dataHome,
    described: await readDescribedEngines(config),
  });
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
        const { makeFolder } = await import("../storage/sqlite/database.ts");
        makeFolder(folder);
        await writeFile(file, `${digestOf(text)}\n${text}`, { mode: 0o600 });
      } catch {
        // Ignore the error: without the file, the next start only waits for its engine.
      }
    },
  };
}

function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
