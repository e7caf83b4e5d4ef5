import { attacks } from "./attacks.ts";
import { testAttacks } from "./bounded-work.ts";

/** The attacks that a plan bounds. All other attacks are tested every night. */
testAttacks(
  "public",
  Object.values(attacks)
    .flat()
    .filter(({ boundBy }) => boundBy === "plan"),
);
