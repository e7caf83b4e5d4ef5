import type { EngineDescription } from "../engine/backends/native/described.ts";
import type { Config } from "./settings.ts";

/** The modules that read the file are loaded only if there is a file, because loading them delays the start of the engines. */
export async function readDescribedEngines({
  enginesFile,
}: Pick<Config, "enginesFile">): Promise<readonly EngineDescription[]> {
  if (enginesFile === undefined) {
    return [];
  }
  const { loadDescribedEngines } = await import("./described-engines.ts");
  return loadDescribedEngines(enginesFile);
}
