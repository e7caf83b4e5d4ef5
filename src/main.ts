import { setDefaultHighWaterMark } from "node:stream";
import { run } from "./cli/run.ts";

// Buffer at most 16 KiB of an answer that the client has not read. Node's default is 64 KiB.
setDefaultHighWaterMark(false, 16 * 1024);

process.exitCode = await run(process.argv.slice(2));
