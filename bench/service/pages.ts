import type { Flat } from "./flat.ts";
import { flatHeading, flatTable, flatVerdict } from "./flat-table.ts";
import type { Sweep } from "./growth.ts";
import {
  coresTable,
  endOfOneProcess,
  growthOfDepth,
  serverShare,
  serverUsAt,
  sweepTable,
  sweepTitles,
  usedShare,
} from "./growth-tables.ts";
import type { Machine } from "./machine.ts";
import { peers } from "./peers.ts";
import { flatPicture, rowsPicture, sweepPicture } from "./pictures.ts";
import type { FlatResults, GrowthResults, Results, RowResults } from "./results.ts";
import { headingOf, rowTable } from "./row-tables.ts";
import type { Row } from "./rows.ts";
import { figures, ratioOf } from "./statistics.ts";
import { number, withSpread } from "./table.ts";

/** Texts by their paths in `docs/`: two pages, and the pictures that they show. */
export function pagesFrom({ rows, flat, growth }: Results): ReadonlyMap<string, string> {
  return new Map([
    ["benchmarks.md", benchmarksPage(rows, flat)],
    ["capacity.md", capacityPage(growth)],
    ["benchmarks/rows.svg", rowsPicture(rows.rows)],
    ...flat.flats.map((each): [string, string] => [`benchmarks/${flatFile(each)}`, flatPicture(each)]),
    ...growth.sweeps.map((each): [string, string] => [`benchmarks/${sweepFile(each)}`, sweepPicture(each)]),
  ]);
}

const flatFile = ({ depth, callers }: Flat) => `flat-${depth}-${callers}.svg`;
const sweepFile = ({ name }: Sweep) => `growth-${name}.svg`;

function benchmarksPage({ machine, rows }: RowResults, { machine: flatMachine, flats }: FlatResults): string {
  const measured = new Set(rows.flatMap((row) => row.measured.map(({ name }) => name)));
  const about = Object.values(peers)
    .filter(({ name }) => measured.has(name))
    .map(({ name, about }) => `- **${name}**: ${about}.`);
  return `# Benchmarks

Made by \`npm run bench:pages\` from [rows.json](benchmarks/rows.json) and [flat.json](benchmarks/flat.json); \`npm run bench\` measures.

${machineText(machine)}

## What is measured

A service as its users meet it: started as they start it, in a process of its own, and asked through its port, over kept
connections, by as many callers as said, each with one question after the other. Kibitz logs at info into a file, and counts the
limits of each caller: rows with thousands of requests a second have a key whose plan has limits that are not reached, or are
open, as each says. All have the same engines, two at a time, with one thread, 16 MiB of hash and \`UCI_ShowWDL\` (Kibitz gives
shallow searches less of it, as [decision 22](adr/0022-hash-by-depth.md) says: that is a part of what is measured); and the same questions, positions of random games of which none comes twice, but where it is said. Beside Kibitz, in turns by round (A B C, then
C B A), stand others that do the same job, each as its users write it (\`bench/service/peers/\`):

${about.join("\n")}

Those with a clean slate are asked one position before each depth, and must find the same move; their hash tables are as large as said above. Any answer but success ends
the run.

Before its first turn each is asked for half a minute, unless the command says otherwise (\`--warm\`): V8 compiles meanwhile. A
service that has just been started takes up to twice as much processor time for a search
([decision 39](adr/0039-what-a-call-costs.md)).

A figure is the median of the rounds, with the least and the most of them in brackets. What stands behind \`×\` compares with the first
row round by round: what the machine does in a round, it does to both. Processor time is user and system time of the server's
process alone, for each request; the engines' stands apart. Where a turn has fewer than a hundred answers, as at depth 14, its p99 is the
slowest of them.

**What the figures leave out.** The network, since all is on one machine. The load takes a part of the same cores: \`wrk\` with
one thread, for gRPC and at a rate \`h2load\`. \`wrk\` adds to the latencies what callers who do not wait for each other would have met (it
corrects for coordinated omission); h2load and the bare engines do not. What is under way when a turn ends is not counted as
an answer, but its processor time is. Metrics are off: \`npm run bench:telemetry\` tells what they take. Memory is that of the server alone, at the end of its turn.

![positions a minute](benchmarks/rows.svg)

${rows.map((row) => `### ${headingOf(row)}\n\n${rowTable(row)}${comparisonsOf(row)}`).join("\n\n")}

## Over time

New questions without a pause, from \`wrk\`, in slices of ten seconds, to a server that has just been started: its first half minute is
the slowest. The delay of the event loop is what timers of the server
were late by, looked at every 5 ms (\`bench/service/watch-loop.js\`, which is imported into it).

${machineText(flatMachine)}

${flats.map((flat) => `### ${flatHeading(flat)}\n\n${flatVerdict(flat)}\n\n![over time](benchmarks/${flatFile(flat)})\n\n${flatTable(flat)}`).join("\n\n")}

## To repeat it

\`\`\`sh
apt-get install wrk nghttp2-client stockfish      # load over HTTP and gRPC, the native engine
python3 -m venv /tmp/peers && /tmp/peers/bin/pip install chess fastapi "uvicorn[standard]"
${machine.command}
${flatMachine.command}
npm run bench:pages
\`\`\`

\`npm run bench\` alone takes a quarter of an hour and keeps its results below \`bench/\`, with \`-- --full\` it asks of more depths, callers and peers;
\`npm run bench -- --help\` says how to ask for one cell in half a minute. How much a machine can serve is in [capacity.md](capacity.md).
`;
}

const wakes = `A server that answers at once keeps \`wrk\` awake. One that takes longer has to wake it for each answer, and that time in the kernel is
counted as the server's. Asked at the same rate, in bursts of a hundred a second, all have to, as they have where callers ask when they need to know.`;

/** What the table does not compare, because it is no peer's. */
function comparisonsOf({ kind, measured }: Row): string {
  const sentences = measured.flatMap(({ name, turns }) => {
    const json = measured.find((each) => name === `${each.name}, gRPC`);
    const ratio = json && ratioOf(turns, json.turns, figures.serverUs);
    return ratio
      ? [`${name}: ${withSpread(ratio)} times the processor time of the same call over JSON.`]
      : [];
  });
  return kind === "cached" && sentences.length > 0 ? `\n\n${sentences.join("\n")}\n\n${wakes}` : "";
}

function capacityPage({ machine, slots, sweeps }: GrowthResults): string {
  const depth = sweeps.find(({ name }) => name === "depth");
  const end = sweeps.find(({ name }) => name === "at-once");
  return `# Capacity

For whoever runs Kibitz and wants to know how large the machine must be. Made by \`npm run bench:pages\` from
[growth.json](benchmarks/growth.json); \`npm run bench -- --growth\` measures.

${machineText(machine)}
${depth ? coresText(depth) : ""}${depth && end ? endText(end, depth) : ""}
## How cost grows

One thing grows in each table, and the rest stays: ${slots} slots, and what the heading says. Every question is new, callers
have a key whose limits are not reached, connections of one address are not limited and waiting has no bound. Load,
engines and server share the machine. What is under way when a turn ends is not counted as answered: with a thousand streams and
large batches the rates are lower by that.

${sweeps.map((sweep) => `### ${sweepTitles[sweep.name]}\n\n![growth](benchmarks/${sweepFile(sweep)})\n\n${sweepTable(sweep)}`).join("\n\n")}
`;
}

function coresText(depth: Sweep): string {
  return `
## How many cores

Searching takes the cores: one search is one thread of one engine. The server beside it takes ${serverShare(depth, 1)} % of the processor time of a
position at depth 1, ${serverShare(depth, 8)} % at depth 8 and ${serverShare(depth, 14)} % at depth 14. The table says how many
cores of this kind serve so many positions a second, of which none is known, when on average ${usedShare * 100} % of them are busy: what
comes comes unevenly, and with all of them busy there is always a line. Answers that are known cost no engine; a share of them takes
that share off. \`KIBITZ_SLOTS\` is as many as there are cores, as far as memory allows, unless you set it.

${coresTable(depth)}

That is for positions of random games; other positions take other times, and the deepest rows are of few searches. Each ply of depth more takes ${number(growthOfDepth(depth))} times as long (from
depth 8 on), so the depth that callers may ask decides most: their plans limit it (\`depth_max\`, [running.md](running.md#plans)).
`;
}

function endText(end: Sweep, depth: Sweep): string {
  const { perSecond, callers, cores } = endOfOneProcess(end);
  const [shallow, usual] = [1, 8].map((ply) => number(1e6 / serverUsAt(depth, ply)));
  return `
## Where one process ends

The server is one thread, so it ends where that has a core to itself and needs more. With an engine that answers at once one process
answers ${number(perSecond)} requests a second (${callers} callers), and takes ${number(cores)} of a core for it; real engines write more, and share the machine: by the
processor time that a position takes of the server (below), its thread is full at ${shallow} a second at depth 1 and at ${usual} at depth 8. Below that, engines are what you
run out of: more cores and more slots serve more. Above it, start another process with its own port behind a balancer that looks at how many
requests each has (least connections); each has its own cache, and without \`KIBITZ_REDIS_URL\` counts limits by itself.
`;
}

function machineText({
  at,
  command,
  commit,
  processor,
  cores,
  memoryGib,
  kernel,
  node,
  engines,
  tools,
}: Machine): string {
  const named = engines.map(({ name, path, sha256 }) => `${name} (${path}, \`${sha256.slice(0, 12)}…\`)`);
  return `${at}, commit ${commit}, \`${command}\`. ${processor}, ${cores} cores, ${memoryGib} GiB, ${kernel}, Node ${node}; ${named.join(", ")}; ${tools.join(", ")}.`;
}
