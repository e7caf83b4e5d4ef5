import { testAbandonedWork } from "./abandoned-work.ts";

testAbandonedWork(() => true);
