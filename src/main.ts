import { setDefaultHighWaterMark } from "node:stream";
import { run } from "./cli/run.ts";

// Answers that nobody reads wait in memory, at most this much of each: a quarter of Node's default.
setDefaultHighWaterMark(false, 16 * 1024);

process.exitCode = await run(process.argv.slice(2));
