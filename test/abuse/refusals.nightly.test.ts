import { testRefusals } from "./test-refusals.ts";

testRefusals(() => true);
