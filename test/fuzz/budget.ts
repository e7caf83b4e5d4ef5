/** Each target gets this fraction of the running time of `npm run lane -- fuzz`. The fractions add up to 1. */
const shares = {
  "fen-validation": 0.15,
  referee: 0.25,
  "uci-line": 0.1,
  "json-codec": 0.1,
  request: 0.2,
  positions: 0.1,
  tablebase: 0.1,
} as const;

export type TargetName = keyof typeof shares;

interface Budget {
  /** The seed of the first round. In each later round, the seed is higher by 1. */
  readonly seed: number;
  readonly milliseconds: number;
}

/**
 * Reads FUZZ_SEED and FUZZ_MINUTES. `test/support/lanes.ts` sets the defaults.
 * @throws RangeError if a variable is invalid
 */
export function budgetOf(name: TargetName): Budget {
  const { FUZZ_SEED, FUZZ_MINUTES } = process.env;
  const [seed, minutes] = [Number(FUZZ_SEED), Number(FUZZ_MINUTES)];
  if (!Number.isSafeInteger(seed) || !(minutes > 0)) {
    throw new RangeError(`FUZZ_SEED=${FUZZ_SEED} must be an integer, FUZZ_MINUTES=${FUZZ_MINUTES} above 0`);
  }
  return { seed, milliseconds: minutes * 60_000 * shares[name] };
}

/**
 * Reads the number of inputs from a variable, for example FUZZ_FENS=1000000. Returns undefined if the variable is not set.
 * @throws RangeError if the variable is invalid
 */
export function countFromEnv(
  name: "FUZZ_FENS" | "FUZZ_POSITIONS" | "FUZZ_REQUESTS" | "FUZZ_ENDINGS",
): number | undefined {
  const text = process.env[name];
  if (text === undefined || text === "") {
    return undefined;
  }
  const count = Number(text);
  if (!Number.isSafeInteger(count) || count < 1) {
    throw new RangeError(`${name}=${text} must be a whole number above 0`);
  }
  return count;
}
