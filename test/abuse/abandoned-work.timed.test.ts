import { testAbandonedWork } from "./abandoned-work.ts";

/** All attacks are tested every night. */
const tested: Readonly<Record<string, readonly string[]>> = {
  "with the built-in plans": ["a review over many connections", "compare_moves over MCP"],
  "with plans that have no error quota": ["an evaluation of 600 moves"],
};
testAbandonedWork((plans, attack) => tested[plans]?.includes(attack) === true);
