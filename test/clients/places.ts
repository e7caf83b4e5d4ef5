import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Sources, sourcesOf } from "../support/build-once.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** The source files of the example and of the probe, and the folders in which they are compiled. */
export interface Place extends Sources {
  /** The folder of the compiled example. */
  readonly example: string;
  /** The folder of the compiled probe. */
  readonly probe: string;
}

export function placeOf(language: string): Place {
  const [example, probe] = [`examples/${language}`, `test/clients/${language}`];
  const sources = sourcesOf(
    `client-${language}`,
    ...[example, probe, `test/clients/languages/${language}.ts`],
    ...["proto", "third_party/google", "third_party/buf", "buf.yaml"],
  );
  return { ...sources, example: join(sources.folder, example), probe: join(sources.folder, probe) };
}

/** Returns the source folder of a probe. */
export function probeOf(language: string): string {
  return join(root, "test/clients", language);
}

/** The source folder of the examples. */
export const examples = join(root, "examples");

/** The path of buf, which npm has installed. */
export const buf = join(root, "node_modules/.bin/buf");
