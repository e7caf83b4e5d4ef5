import { attacks } from "./attacks.ts";
import { testAttacks } from "./bounded-work.ts";

for (const ofOneKind of Object.values(attacks)) {
  testAttacks(
    "public",
    ofOneKind.filter(({ boundBy }) => boundBy !== "plan"),
  );
}
