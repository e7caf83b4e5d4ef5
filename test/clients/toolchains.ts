import { mkdir } from "node:fs/promises";
import type { TestProject } from "vitest/node";
import { languages } from "./languages/index.ts";
import { cacheOf } from "./places.ts";

/** Builds all languages that can be built here. */
export default async function buildLanguages(project: TestProject): Promise<void> {
  const { missing } = project.getProvidedContext();
  for (const language of languages.filter(({ needs }) => !needs.some((need) => missing.includes(need)))) {
    const begin = performance.now();
    await mkdir(cacheOf(language.name), { recursive: true });
    await language.build();
    console.log(`Built: ${language.name}, in ${((performance.now() - begin) / 1000).toFixed(1)} s.`);
  }
}
