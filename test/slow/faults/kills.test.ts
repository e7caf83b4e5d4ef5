import { test } from "vitest";
import { killEngines } from "./kill-engines.ts";

/** The bench does a thousand: `npm run bench:kills`. */
const kills = 30;

test(
  "engines that are killed and suspended at random under load lose no request and leave no process behind",
  () => killEngines(kills, "stockfish-19"),
  300_000,
);
