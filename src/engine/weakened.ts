import type { EngineOption, OptionValues } from "./engine.ts";

/** True if the engine plays below its full strength with these values. A missing value has its default. */
export function isWeakened(declared: readonly EngineOption[], values: OptionValues = {}): boolean {
  const chosen = (option: EngineOption) => values[option.name] ?? option.default;
  return declared.some(
    (option) =>
      (option.name === "uci_limit_strength" && chosen(option) === true) ||
      (option.name === "skill_level" && option.kind === "integer" && chosen(option) !== option.maximum),
  );
}
