import type { EngineTime, UsageStore } from "../ports.ts";

/** Engine time used, in this process and gone with it. */
export function createMemoryUsageStore(): UsageStore {
  const kept = new Map<string, EngineTime>();
  return {
    async add(spent, now) {
      for (const one of spent) {
        const name = JSON.stringify([one.rate, one.subject]);
        const before = kept.get(name);
        const goesOn = before !== undefined && before.resetsAt > now;
        kept.set(name, goesOn ? sumOf(before, one) : one);
      }
    },
    async current(now) {
      return [...kept.values()].filter(({ resetsAt }) => resetsAt > now);
    },
    async prune(now, max) {
      const ended = kept
        .entries()
        .filter(([, { resetsAt }]) => resetsAt <= now)
        .take(max)
        .toArray();
      for (const [name] of ended) {
        kept.delete(name);
      }
      return ended.length;
    },
  };
}

function sumOf(before: EngineTime, one: EngineTime): EngineTime {
  return {
    ...before,
    engineMs: before.engineMs + one.engineMs,
    resetsAt: Math.min(before.resetsAt, one.resetsAt),
  };
}
