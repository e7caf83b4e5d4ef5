#!/usr/bin/env node
import { enableCompileCache } from "node:module";
import { setFlagsFromString } from "node:v8";

// Calls leave short-lived objects only. A nursery that grows, as it does by default, would hold 25 MB
// more memory for a tenth less CPU a call.
setFlagsFromString("--semi-space-growth-factor=1");
// Keeps what stripping types and compiling gave, for the next start.
enableCompileCache();

const { run } = await import("./cli/run.ts");
process.exitCode = await run(process.argv.slice(2));
