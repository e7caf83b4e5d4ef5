import type { TestProject } from "vitest/node";
import { components, isLeftToRoot, lackOf, type Need } from "./components.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** What tests of this configuration may need. */
    readonly needs: readonly Need[];
    /** What of that is not here. */
    readonly missing: readonly Need[];
  }
}

/** Says once what this run leaves out, and how to have it; in CI only what needs root may be, and that by an ordinary user. */
export default function requireComponents(project: TestProject): () => void {
  const { needs } = project.getProvidedContext();
  const missing = needs.filter((need) => !components[need].isHere());
  project.provide("missing", missing);
  const lacking = missing.filter((need) => !isLeftToRoot(need));
  if (lacking.length > 0 && process.env.CI) {
    throw new Error(`in CI nothing may be left out: ${lacking.map(lackOf).join("; ")}`);
  }
  for (const need of missing) {
    console.log(`Some tests are left out: ${lackOf(need)}.`);
  }
  return () => {
    if (process.env.CI && missing.length === 0 && project.config.testNamePattern === undefined) {
      expectAllRun(project);
    }
  };
}

/** The last word on tests that were left out in whatever way. */
function expectAllRun({ vitest, name }: TestProject): void {
  const leftOut = vitest.state
    .getTestModules()
    .filter(({ project }) => project.name === name)
    .flatMap((module) =>
      [...module.children.allTests("skipped")].map((test) => `${module.moduleId}: ${test.fullName}`),
    );
  if (leftOut.length > 0) {
    console.error(`Left out${name && ` of ${name}`}, and in CI nothing may be:\n${leftOut.join("\n")}`);
    process.exitCode = 1;
  }
}
