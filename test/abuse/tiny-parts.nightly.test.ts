import { testTinyParts } from "./tiny-parts.ts";

testTinyParts(() => true);
