import type { TargetName } from "./budget.ts";

const everyMs = 30_000;

/** Says now and then how far a target is, and in the end what it did. */
export function startProgress(name: TargetName, seed: number) {
  const startedAt = performance.now();
  let toldAt = startedAt;
  const tell = (inputs: number, figures: string) => {
    const seconds = (performance.now() - startedAt) / 1000;
    const rate = Math.round(inputs / seconds);
    const more = figures === "" ? "" : `; ${figures}`;
    console.log(
      `${name}: ${inputs.toLocaleString("en")} inputs in ${seconds.toFixed(0)} s (${rate.toLocaleString("en")}/s), seed ${seed}${more}`,
    );
  };
  return {
    elapsedMs: () => performance.now() - startedAt,
    sometimes(inputs: number, figures: () => string) {
      if (performance.now() - toldAt > everyMs) {
        toldAt = performance.now();
        tell(inputs, figures());
      }
    },
    done: tell,
  };
}
