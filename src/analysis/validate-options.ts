import type { EngineOption, OptionValues } from "../engine/engine.ts";
import { type Fault, faultsMax, refuseFaults } from "../errors/errors.ts";
import { pointerStep } from "../text/json-pointer.ts";
import { didYouMean, nearestName } from "../text/nearest-name.ts";
import { echo, nameOfJson } from "../text/plain-text.ts";
import type { ValidatedRequest } from "./analysis.ts";

type ValidatedOptions = Pick<ValidatedRequest, "options" | "effectiveOptions" | "weakened">;

/**
 * Validates the options of a request against the options that its engine declares. Never clamps a value.
 *
 * @throws KibitzError if an option is invalid
 */
export function validateOptions(
  given: Readonly<Record<string, unknown>>,
  declared: readonly EngineOption[],
): ValidatedOptions {
  const byName = new Map(declared.map((option) => [option.name, option]));
  const faults: Fault[] = [];
  for (const name in given) {
    const option = byName.get(name);
    faults.push(...(option ? faultsOfValue(option, given[name]) : [notAllowed(name, declared)]));
    // Stop here: an error lists no more violations, and suggesting a name for each of 6,000 wrong ones takes 100 ms.
    if (faults.length === faultsMax) {
      break;
    }
  }
  const options = given as OptionValues;
  if (faults.length === 0) {
    faults.push(...contradictions(options));
  }
  refuseFaults(faults);
  return { options, effectiveOptions: effectiveOf(options, byName), weakened: isWeakened(options, byName) };
}

/**
 * Returns the options that are in effect. Leaves out options with their default, and the variant, because the position has it: a
 * Shredder-FEN is Chess960 without the option.
 */
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

function notAllowed(name: string, declared: readonly EngineOption[]): Fault {
  const names = declared.map((option) => option.name);
  const known = `the options are ${names.join(", ")}.`;
  const hint = names.length > 0 ? `: ${didYouMean(name, names, known)}` : ".";
  const meant = nearestName(name, names);
  return {
    pointer: pointerOf(name),
    code: "option_not_allowed",
    message: `\`${echo(name)}\` is not an option that can be set on this engine${hint}`,
    allowed: { enum: names },
    ...(meant && { meant }),
  };
}

function faultsOfValue(option: EngineOption, value: unknown): Fault[] {
  const fault = (message: string, allowed: Fault["allowed"] & {}): Fault[] => [
    {
      pointer: pointerOf(option.name),
      code: "invalid_option",
      message: `\`${option.name}\` ${message}, not ${nameOfJson(value)}.`,
      allowed,
    },
  ];
  if (option.kind === "boolean") {
    return typeof value === "boolean" ? [] : fault("must be true or false", { type: "boolean" });
  }
  const { minimum, maximum } = option;
  const inside = typeof value === "number" && Number.isInteger(value) && value >= minimum && value <= maximum;
  return inside
    ? []
    : fault(`must be an integer from ${minimum} to ${maximum}`, { type: "integer", minimum, maximum });
}

/** Finds option values that are each allowed, but make no sense together. */
function contradictions(values: OptionValues): readonly Fault[] {
  if (values.uci_elo === undefined) {
    return [];
  }
  const fault = (message: string): Fault => ({
    pointer: pointerOf("uci_elo"),
    code: "invalid_option",
    message,
  });
  return [
    ...(values.uci_limit_strength === true
      ? []
      : [fault('`uci_elo` has no effect without `uci_limit_strength`: add "uci_limit_strength": true.')]),
    ...(values.skill_level === undefined
      ? []
      : [fault("`uci_elo` and `skill_level` both set the playing strength: send only one of them.")]),
  ];
}

function isWeakened(values: OptionValues, declared: ReadonlyMap<string, EngineOption>): boolean {
  const skill = declared.get("skill_level");
  const full = skill?.kind === "integer" ? skill.maximum : undefined;
  const level = values.skill_level;
  return values.uci_limit_strength === true || (level !== undefined && level !== full);
}
