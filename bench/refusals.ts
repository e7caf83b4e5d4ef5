/**
 * What refusing costs: a keyless caller on twenty connections sends only what will be refused, as fast as it is
 * answered, to a server in a process of its own with limits and log as by default. Told for each kind of refusal: how
 * long health and other callers' cached answers take meanwhile, how the flood was answered, and what the server's
 * processor time was for each refusal. Once with the budget of refusals, and once without one, where only the slices of
 * the thread keep the others served. Last, in this process: the longest piece of the works that come in slices.
 *
 * Leaves out: the network, since all is on one machine, and what flood and probes take from the server's processor.
 *
 *     node bench/refusals.ts [seconds a kind, default 10]
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { judgePositionInPieces } from "../src/chess/judge-position.ts";
import { explainJson } from "../src/protocols/json/codec/explain-json.ts";
import { splitList } from "../src/text/json-scan.ts";
import { watchHealth } from "../test/abuse/health-watch.ts";
import { askFromCache, floodWithRefusals, refused, turnedAway } from "../test/abuse/refusals.ts";
import { startServer } from "../test/support/start-server.ts";
import { makeDataFolder } from "./data-folder.ts";

const forMs = Number(process.argv[2] ?? 10) * 1000;
const goalMs = 50;

const withoutBudget = JSON.stringify({
  plans: [
    { id: "keyless", limits: { rates: [{ name: "minute", quota: 60, window_s: 60, unit: "request" }] } },
  ],
});

/** Processor time of a process so far, in milliseconds, of which Linux counts a hundred ticks a second. */
function cpuMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "latin1").split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

function quantile(times: readonly number[], share: number): string {
  const sorted = times.toSorted((a, b) => a - b);
  return (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0).toFixed(1);
}

async function measure(name: string, env: Readonly<Record<string, string>>, folder: string): Promise<void> {
  const { url, pid, stop } = await startServer(
    { PATH: process.env.PATH, KIBITZ_ACCESS: "public", KIBITZ_DATA_DIR: folder, ...env },
    { stdout: "ignore" },
  );
  console.log(`\n${name} (goal: p99 under ${goalMs} ms for both)`);
  let network = 0;
  for (const [kind, flood] of Object.entries({ ...refused, ...turnedAway })) {
    network++;
    // What is cached is there.
    await askFromCache({ url, pid }, 100 + network, 300);
    const before = cpuMs(pid);
    const stopFlood = await floodWithRefusals(url, flood, `127.0.200.${network}`);
    const stopWatch = await watchHealth({ url, pid });
    const { tookMs, failed } = await askFromCache({ url, pid }, network, forMs);
    const health = await stopWatch();
    const { statuses } = await stopFlood();
    const answers = [...statuses.values()].reduce((sum, count) => sum + count, 0);
    const told = [...statuses].map(([status, count]) => `${count} × ${status}`).join(", ");
    console.log(
      `${kind}: health p99 ${health.p99Ms} ms, max ${health.maxMs} (${health.failed} of ${health.probes} failed); ` +
        `cached p50 ${quantile(tookMs, 0.5)}, p99 ${quantile(tookMs, 0.99)} ms (${failed} of ${tookMs.length} failed); ` +
        `${told}; ${(((cpuMs(pid) - before) * 1000) / answers).toFixed(0)} µs of processor time for each`,
    );
  }
  await stop();
}

function longestPieceMs(makePieces: () => Generator<void, unknown>): number {
  // The first rounds are compiled meanwhile.
  let longest = 0;
  for (let round = 0; round < 20; round++) {
    longest = round < 10 ? 0 : longest;
    const pieces = makePieces();
    for (let done = false; !done; ) {
      const startedAt = performance.now();
      done = pieces.next().done === true;
      longest = Math.max(longest, performance.now() - startedAt);
    }
  }
  return longest;
}

const folder = makeDataFolder();
await measure("With the budget of refusals", {}, folder);
const plans = join(folder, "plans.json");
writeFileSync(plans, withoutBudget);
await measure("Without a budget", { KIBITZ_PLANS: plans }, folder);

const fen = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
const moves = Array.from({ length: 150 }, () => ["Nf3", "Nf6", "Ng1", "Ng8"]).flat();
const dense = `{"requests":[${"{},".repeat(340_000)}{}]}`;
console.log("\nLongest piece (goal: with a slice of 1 ms, under 3 ms)");
console.log(
  `judging 600 moves: ${longestPieceMs(() => judgePositionInPieces({ fen, moves, chess960: false })).toFixed(2)} ms`,
);
console.log(
  `explaining 64 KiB of broken JSON: ${longestPieceMs(() => explainJson(`{"a":[${"1,".repeat(32_000)}`)).toFixed(2)} ms`,
);
const megabyte = 1_000_000;
for (const [name, text] of Object.entries({
  "empty lines": `{${"\n".repeat(megabyte)}x`,
  spaces: `${" ".repeat(megabyte)}x`,
  "one string": `["${"a".repeat(megabyte)}`,
})) {
  console.log(`explaining a megabyte of ${name}: ${longestPieceMs(() => explainJson(text)).toFixed(2)} ms`);
}
console.log(
  `taking a batch of a megabyte apart: ${longestPieceMs(() => splitList(dense, "requests", 200)).toFixed(2)} ms`,
);
