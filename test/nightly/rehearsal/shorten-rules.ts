const msOf: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Matches the times in a rules file: windows of queries, and `for`. */
const times = /(\[|\bfor: )(\d+)([smhd])\b/g;

/**
 * The same rules with every time that much shorter, so that what takes an hour can be seen in a minute. What is recorded keeps its name,
 * and so does what is counted, such as five engines within a window.
 */
export function shortenRules(rules: string, factor: number): string {
  return rules.replace(times, (_, before: string, count: string, unit: string) => {
    const ms = Math.round((Number(count) * (msOf[unit] ?? 0)) / factor);
    return `${before}${ms}ms`;
  });
}
