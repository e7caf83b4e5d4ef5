import { testTwentyAtATime } from "./twenty-at-a-time.ts";

testTwentyAtATime("open", true);
testTwentyAtATime("public", true);
