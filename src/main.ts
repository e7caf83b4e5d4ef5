import { setDefaultHighWaterMark } from "node:stream";
import { run } from "./cli/run.ts";

// Limit the part of an unread answer that waits in memory to a quarter of Node's default.
setDefaultHighWaterMark(false, 16 * 1024);

process.exitCode = await run(process.argv.slice(2));
