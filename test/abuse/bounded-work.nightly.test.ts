import { testAttacks } from "./bounded-work.ts";

testAttacks("public", ({ boundBy }) => boundBy === undefined);
