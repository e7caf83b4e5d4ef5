import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { useTemporaryFolder } from "./temporary-folder.ts";

interface WrittenPlan {
  readonly id: string;
  readonly limits: Readonly<Record<string, unknown>>;
}

/** Writes a file for KIBITZ_PLANS, and deletes it after the tests of a file. */
export function usePlansFile(...plans: readonly WrittenPlan[]): string {
  const file = join(useTemporaryFolder(), "plans.json");
  writeFileSync(file, JSON.stringify({ plans }));
  return file;
}

export function rateOf(name: string, quota: number, windowS: number, unit = "request"): object {
  return { name, quota, window_s: windowS, unit };
}
