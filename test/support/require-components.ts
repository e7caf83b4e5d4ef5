import type { TestProject } from "vitest/node";
import { components, lackOf, type Need } from "./components.ts";

declare module "vitest" {
  interface ProvidedContext {
    readonly needs: readonly Need[];
    readonly missing: readonly Need[];
  }
}

/** Reports missing components and how to install them. In CI, a missing component or a skipped test fails the run. */
export default function requireComponents(project: TestProject): () => void {
  const { needs } = project.getProvidedContext();
  const missing = needs.filter((need) => !components[need].isHere());
  project.provide("missing", missing);
  if (missing.length > 0 && process.env.CI) {
    throw new Error(`in CI nothing may be left out: ${missing.map(lackOf).join("; ")}`);
  }
  for (const need of missing) {
    console.log(`Some tests are left out: ${lackOf(need)}.`);
  }
  return () => {
    if (process.env.CI && project.config.testNamePattern === undefined) {
      expectAllRun(project);
    }
  };
}

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
