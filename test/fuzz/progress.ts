import type { TargetName } from "./budget.ts";

const everyMs = 30_000;

/** Logs the progress of a target every 30 s, and a summary at the end for docs/measured.md. */
export function startProgress(name: TargetName, seed: number) {
  const startedAt = performance.now();
  let loggedAt = startedAt;
  const text = (inputs: number, figures: string) => {
    const seconds = (performance.now() - startedAt) / 1000;
    const rate = Math.round(inputs / seconds);
    const more = figures === "" ? "" : `; ${figures}`;
    return `${name}: ${inputs.toLocaleString("en")} inputs in ${seconds.toFixed(0)} s (${rate.toLocaleString("en")}/s), seed ${seed}${more}`;
  };
  return {
    elapsedMs: () => performance.now() - startedAt,
    sometimes(inputs: number, figures: () => string) {
      if (performance.now() - loggedAt > everyMs) {
        loggedAt = performance.now();
        console.log(text(inputs, figures()));
      }
    },
    done(inputs: number, figures: string) {
      console.log(`measured: ${text(inputs, figures)}`);
    },
  };
}
