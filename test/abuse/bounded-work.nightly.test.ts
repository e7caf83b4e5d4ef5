import { attacks } from "./attacks.ts";
import { testAttacks } from "./bounded-work.ts";

for (const ofOneKind of Object.values(attacks)) {
  // In `open` mode no plan limits a caller.
  testAttacks(
    "open",
    ofOneKind.filter(({ boundBy }) => boundBy !== "connections"),
  );
  testAttacks(
    "public",
    ofOneKind.filter(({ boundBy }) => boundBy !== "plan"),
  );
}
