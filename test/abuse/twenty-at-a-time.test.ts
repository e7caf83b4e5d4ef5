import { testTwentyAtATime, testTwentyOverStdio } from "./twenty-at-a-time.ts";

// Without a plan, nothing but the bounds themselves keeps the work small.
testTwentyAtATime("open", false);
testTwentyOverStdio();
