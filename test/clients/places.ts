import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Sources, sourcesOf } from "../support/build-once.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** The source files of the example and of the probe, and the folders in which they are compiled. */
export interface Place extends Sources {
  readonly example: string;
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

export function probeOf(language: string): string {
  return join(root, "test/clients", language);
}

export const examples = join(root, "examples");

export const buf = join(root, "node_modules/.bin/buf");
