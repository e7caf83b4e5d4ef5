import { testRefusals } from "./test-refusals.ts";

// The most expensive refusals are tested with every change. The others are tested every night.
testRefusals((flood) => flood === "batches that cannot be read");
