import { attacks } from "./attacks.ts";
import { testAttacks } from "./bounded-work.ts";

for (const ofOneKind of Object.values(attacks)) {
  // Without a plan, nothing but the bounds themselves keeps the work small.
  testAttacks(
    "open",
    ofOneKind.filter(({ boundBy }) => boundBy !== "connections"),
  );
}
testAttacks(
  "public",
  Object.values(attacks)
    .flat()
    .filter(({ boundBy }) => boundBy === "plan"),
);
