import { testRefusals } from "./test-refusals.ts";

// The dearest of them to refuse; the others are tested every night.
testRefusals((flood) => flood === "batches that cannot be read");
