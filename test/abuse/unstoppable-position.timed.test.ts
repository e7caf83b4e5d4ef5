import { rowsWith } from "../support/needs.ts";
import { testUnstoppablePosition } from "./unstoppable-position.ts";

/** For "auto", the service selects the full network as WebAssembly. */
testUnstoppablePosition(["auto", ...rowsWith(["native"], "native")]);
