import type { Scenario } from "./scenario.ts";

/** Leaves out callers, single calls, acts and faults as long as the scenario still fails. */
export async function shrink(
  scenario: Scenario,
  fails: (scenario: Scenario) => Promise<boolean>,
): Promise<Scenario> {
  let smallest = scenario;
  let isSmaller = true;
  while (isSmaller) {
    isSmaller = false;
    for (const next of smallerThan(smallest)) {
      const candidate = next(smallest);
      if (candidate && (await fails(candidate))) {
        smallest = candidate;
        isSmaller = true;
      }
    }
  }
  return smallest;
}

/** Each function leaves out one more part of a scenario. Undefined if the part is not there any more. */
type LeaveOut = (scenario: Scenario) => Scenario | undefined;

function* smallerThan(scenario: Scenario): Generator<LeaveOut> {
  for (const part of ["callers", "faults", "diskFaults", "acts"] as const) {
    for (const one of scenario[part]) {
      yield (current) => {
        const rest = (current[part] as readonly unknown[]).filter((other) => other !== one);
        return rest.length < current[part].length ? { ...current, [part]: rest } : undefined;
      };
    }
  }
  for (const { name, calls } of scenario.callers) {
    for (const call of calls) {
      yield (current) => {
        const callers = current.callers.map((caller) =>
          caller.name === name
            ? { ...caller, calls: caller.calls.filter((other) => other !== call) }
            : caller,
        );
        const count = (all: Scenario["callers"]) => all.reduce((sum, caller) => sum + caller.calls.length, 0);
        return count(callers) < count(current.callers) ? { ...current, callers } : undefined;
      };
    }
  }
}
