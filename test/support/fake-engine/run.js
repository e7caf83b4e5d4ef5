/**
 * Runs the fake engine, as `node run.js [what fake-engine.ts takes]`. What stripping its types and compiling it gave is
 * kept for the next one, which then starts in half the time. In JavaScript, so that this file needs no stripping.
 */
import { enableCompileCache } from "node:module";
import { fileURLToPath } from "node:url";

enableCompileCache(fileURLToPath(new URL("../../../node_modules/.cache/fake-engine", import.meta.url)));
await import("./fake-engine.ts");
