import { testRefusals } from "./test-refusals.ts";

testRefusals((flood) => flood !== "batches that cannot be read");
