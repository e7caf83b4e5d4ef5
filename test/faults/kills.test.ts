import { test } from "vitest";
import { killEngines } from "./kill-engines.ts";

/** More of them, and those with the full network: `npm run test:slow`. The bench does a thousand: `npm run bench:kills`. */
const kills = 10;

test(
  "engines that are killed and suspended at random under load lose no request and leave no process behind",
  () => killEngines(kills, "stockfish-19-lite"),
  120_000,
);
