import { testAttacks } from "./bounded-work.ts";

// Without a plan, nothing but the bounds themselves keeps the work small.
testAttacks("open", ({ boundBy }) => boundBy !== "connections");
testAttacks("public", ({ boundBy }) => boundBy !== undefined);
