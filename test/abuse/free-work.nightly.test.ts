import { testFreeWork } from "./free-work.ts";

testFreeWork(() => true);
