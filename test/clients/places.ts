import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Sources, sourcesOf } from "../support/build-once.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** The example that users copy and the probe of a language, with the proto files: in the checkout, and where they are built. */
export interface Place extends Sources {
  /** `examples/<language>`, where it is built. */
  readonly example: string;
  /** `test/clients/<language>`, where it is built. */
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

/** The folder of the probe in this checkout. */
export function probeOf(language: string): string {
  return join(root, "test/clients", language);
}

/** The folder of the examples in this checkout. */
export const examples = join(root, "examples");

/** buf, as npm has installed it for development. */
export const buf = join(root, "node_modules/.bin/buf");
