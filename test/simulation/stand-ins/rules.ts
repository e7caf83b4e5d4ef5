import * as real from "../../../src/calls/rules.ts";

export * from "../../../src/calls/rules.ts";

// Compiling the rules takes longer than most simulations.
const rules = real.createRules();

export const createRules = (): typeof rules => rules;
