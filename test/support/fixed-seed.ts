import fc from "fast-check";

/**
 * Every property test uses this seed, so that a run of `npm test` does not depend on chance. `npx node tools/nightly.ts properties`
 * runs the same tests with a random seed.
 */
fc.configureGlobal({ seed: Number(process.env.FUZZ_SEED) });
