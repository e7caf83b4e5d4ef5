import { testTimeAndNodes } from "./time-and-nodes.ts";

testTimeAndNodes(500);
