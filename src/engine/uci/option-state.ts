import type { UciOption } from "./parse-line.ts";

/** The options of an engine by their UCI names, and which of them it was given another value than its default. */
export interface OptionState {
  /** Lines that set what is wanted and not so yet. What the engine has no option for is left out. */
  set(wanted: Iterable<readonly [name: string, value: string]>): readonly string[];
  /** Lines that set back what `set` has changed: options survive `ucinewgame`, so they are set back one by one. */
  reset(): readonly string[];
}

export function createOptionState(options: readonly UciOption[]): OptionState {
  const defaults = new Map(options.map(({ name, default: value }) => [name, value ?? ""]));
  const changed = new Map<string, string>();
  return {
    set(wanted) {
      const lines: string[] = [];
      for (const [name, value] of wanted) {
        const declared = defaults.get(name);
        if (declared !== undefined && value !== (changed.get(name) ?? declared)) {
          lines.push(setLine(name, value));
          changed.set(name, value);
        }
      }
      return lines;
    },
    reset() {
      const lines = [...changed.keys()].map((name) => setLine(name, defaults.get(name) ?? ""));
      changed.clear();
      return lines;
    },
  };
}

function setLine(name: string, value: string): string {
  return `setoption name ${name} value ${value}`;
}
