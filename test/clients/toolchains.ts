import type { TestProject } from "vitest/node";
import { languages } from "./languages/index.ts";

export default async function buildLanguages(project: TestProject): Promise<void> {
  const { missing } = project.getProvidedContext();
  for (const language of languages.filter(({ needs }) => !needs.some((need) => missing.includes(need)))) {
    await timed(language.name, () => language.build());
  }
}

async function timed(name: string, build: () => Promise<void>): Promise<void> {
  const begin = performance.now();
  await build();
  console.log(`Built: ${name}, in ${((performance.now() - begin) / 1000).toFixed(1)} s.`);
}
