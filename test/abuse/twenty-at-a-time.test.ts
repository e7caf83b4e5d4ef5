import { testTwentyAtATime, testTwentyOverStdio } from "./twenty-at-a-time.ts";

// In `open` mode no plan limits a caller.
testTwentyAtATime("open", false);
testTwentyOverStdio();
