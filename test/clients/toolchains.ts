import { mkdir } from "node:fs/promises";
import type { TestProject } from "vitest/node";
import { languages } from "./languages/index.ts";
import { cacheOf } from "./places.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The names of the languages that are built and can be run. */
    readonly languages: readonly string[];
  }
}

/** Builds what can be built here and says once what this run leaves out; in CI nothing may be left out. */
export default async function buildLanguages(project: TestProject): Promise<void> {
  const missing = await Promise.all(languages.map((language) => language.missing()));
  const leftOut = languages.flatMap(({ name }, index) =>
    missing[index] === undefined ? [] : [`${name}, because it needs ${missing[index]}`],
  );
  if (process.env.CI && leftOut.length > 0) {
    throw new Error(`in CI nothing may be left out: ${leftOut.join("; ")}`);
  }
  for (const one of leftOut) {
    console.log(`Left out: ${one}.`);
  }
  const present = languages.filter((_, index) => missing[index] === undefined);
  for (const language of present) {
    const begin = performance.now();
    await mkdir(cacheOf(language.name), { recursive: true });
    await language.build();
    console.log(`Built: ${language.name}, in ${((performance.now() - begin) / 1000).toFixed(1)} s.`);
  }
  project.provide(
    "languages",
    present.map(({ name }) => name),
  );
}
