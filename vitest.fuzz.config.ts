import { randomInt } from "node:crypto";
import { defineConfig } from "vitest/config";
import { lane } from "./test/support/lane.ts";

/** Another seed each time, so that every run looks elsewhere; what fails says how to run it again. */
const { FUZZ_SEED = String(randomInt(2 ** 31)), FUZZ_MINUTES = "2" } = process.env;

/** Fuzzing: `npm run test:fuzz`, `npm run test:referee`, `npm run test:positions`. */
export default defineConfig({
  test: {
    ...lane(),
    include: ["test/fuzz/**/*.fuzz.test.ts"],
    globalSetup: ["test/support/require-components.ts"],
    provide: { needs: ["native", "python"] },
    env: { FUZZ_SEED, FUZZ_MINUTES },
    // They share the time that is given to them all, and want the machine for themselves.
    fileParallelism: false,
    testTimeout: Number(FUZZ_MINUTES) * 60_000 + 3_600_000,
    hookTimeout: 120_000,
    disableConsoleIntercept: true,
  },
});
