import { setDefaultHighWaterMark } from "node:stream";
import { setFlagsFromString } from "node:v8";

// Calls leave short-lived objects only. A nursery that grows to 16 MB, as it does by default, would hold 25 MB more memory
// than one of 4. `npm start` begins with 8 (`--min-semi-space-size`, which V8 reads before it reads this): with 1 MB, of a
// call that asks an engine a quarter of the time went into collecting. It also begins with one thread beside this one for V8's own
// work (`--v8-pool-size`) instead of four, each of which keeps the most memory that it ever had.
setFlagsFromString("--semi-space-growth-factor=1");
// What survives the nursery is mostly garbage, too. By default it may come to three or four times what lives before it is
// collected, which is 70 MB more for less than a hundredth of the CPU of a search.
setFlagsFromString("--heap-growing-percent=30");
// The compiler between the first and the best one keeps 20 MB and more for good, and compiles what is soon compiled again.
setFlagsFromString("--no-maglev");
// 3,000 calls, the default, is meant for what that compiler has compiled in between. Without it, what is hot would wait too long for
// the best one, and what only deep searches call for minutes.
setFlagsFromString("--invocation-count-for-turbofan=300");
// Answers that nobody reads wait in memory, each until so much of it waits: a quarter of the default since Node 22.
setDefaultHighWaterMark(false, 16 * 1024);

const { keepTickShape } = await import("./thread/tick-shape.ts");
keepTickShape();

const { run } = await import("./cli/run.ts");
process.exitCode = await run(process.argv.slice(2));
