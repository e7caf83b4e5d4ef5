import { testUnstoppablePosition } from "./unstoppable-position.ts";

testUnstoppablePosition(["wasm lite", "wasm full"]);
