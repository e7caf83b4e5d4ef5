import { text } from "node:stream/consumers";
import { quickestSettings } from "../support/quickest-settings.ts";
import { startKibitz } from "../support/start-kibitz.ts";
import { useTemporaryFolder } from "../support/temporary-folder.ts";

const dataDir = useTemporaryFolder();

export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `kibitz` to its end, with the engine that starts quickest and no native ones. */
export async function runKibitz(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Finished> {
  const kibitz = startKibitz(args, { ...quickestSettings, KIBITZ_DATA_DIR: dataDir, ...env });
  const [stdout, stderr, code] = await Promise.all([text(kibitz.stdout), text(kibitz.stderr), kibitz.ended]);
  return { code, stdout, stderr };
}
