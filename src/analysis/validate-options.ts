import type { EngineOption, OptionValues } from "../engine/engine.ts";
import { isWeakened } from "../engine/weakened.ts";
import { refuseViolations, type Violation, violationsMax } from "../errors/errors.ts";
import { echo, nameOfJson } from "../text/echo.ts";
import { pointerStep } from "../text/json-pointer.ts";
import { didYouMean, nearestName } from "../text/nearest-name.ts";
import type { ValidatedRequest } from "./analysis.ts";

type ValidatedOptions = Pick<ValidatedRequest, "options" | "effectiveOptions" | "weakened">;

/** Throws if the engine does not allow an option or its value. */
export function validateOptions(
  given: Readonly<Record<string, unknown>>,
  declared: readonly EngineOption[],
): ValidatedOptions {
  const byName = new Map(declared.map((option) => [option.name, option]));
  const violations: Violation[] = [];
  for (const name in given) {
    const option = byName.get(name);
    violations.push(...(option ? violationsOfValue(option, given[name]) : [notAllowed(name, declared)]));
    // Stop here, because finding similar names for 6,000 unknown options takes 100 ms.
    if (violations.length === violationsMax) {
      break;
    }
  }
  const options = given as OptionValues;
  if (violations.length === 0) {
    violations.push(...contradictions(options, byName));
  }
  refuseViolations(violations);
  return { options, effectiveOptions: effectiveOf(options, byName), weakened: isWeakened(declared, options) };
}

/** Removes options that have their default value. Removes the variant, because the position already contains the variant. */
function effectiveOf(values: OptionValues, declared: ReadonlyMap<string, EngineOption>): OptionValues {
  return Object.fromEntries(
    Object.entries(values).filter(
      ([name, value]) => name !== "uci_chess960" && value !== declared.get(name)?.default,
    ),
  );
}

function pointerOf(name: string): string {
  return `/options${pointerStep(name)}`;
}

function notAllowed(name: string, declared: readonly EngineOption[]): Violation {
  const names = declared.map((option) => option.name);
  const known = `the options are ${names.join(", ")}.`;
  const hint = names.length > 0 ? `: ${didYouMean(name, names, known)}` : ".";
  const meant = nearestName(name, names);
  return {
    pointer: pointerOf(name),
    code: "option_not_allowed",
    message: `${echo(name, "`")} is not an option that can be set on this engine${hint}`,
    allowed: { enum: names },
    ...(meant && { meant }),
  };
}

function violationsOfValue(option: EngineOption, value: unknown): Violation[] {
  const violation = (message: string, allowed: Violation["allowed"] & {}): Violation[] => [
    {
      pointer: pointerOf(option.name),
      code: "invalid_option",
      message: `\`${option.name}\` ${message}, not ${nameOfJson(value)}.`,
      allowed,
    },
  ];
  if (option.kind === "boolean") {
    return typeof value === "boolean" ? [] : violation("must be true or false", { type: "boolean" });
  }
  const { minimum, maximum } = option;
  const inside = typeof value === "number" && Number.isInteger(value) && value >= minimum && value <= maximum;
  return inside
    ? []
    : violation(`must be an integer from ${minimum} to ${maximum}`, { type: "integer", minimum, maximum });
}

function contradictions(
  values: OptionValues,
  declared: ReadonlyMap<string, EngineOption>,
): readonly Violation[] {
  if (values.uci_elo === undefined) {
    return [];
  }
  const violation = (message: string): Violation => ({
    pointer: pointerOf("uci_elo"),
    code: "invalid_option",
    message,
  });
  const isLimited = values.uci_limit_strength ?? declared.get("uci_limit_strength")?.default;
  return [
    ...(isLimited === true
      ? []
      : [violation('`uci_elo` has no effect without `uci_limit_strength`: add "uci_limit_strength": true.')]),
    ...(values.skill_level === undefined
      ? []
      : [violation("`uci_elo` and `skill_level` both set the playing strength: send only one of them.")]),
  ];
}
