import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { makeDataFolder } from "../data-folder.ts";
import { rssMib } from "../vital-signs.ts";
import type { PeerSettings } from "./peer.ts";
import { startKibitz } from "./peers/kibitz.ts";
import { createQuestionBook, mostPerSecond } from "./questions.ts";

/** How long one load is; the next one follows at once. */
const sliceSeconds = 10;

/** A slice of the time. */
export interface FlatSample {
  /** At its end. */
  readonly minute: number;
  readonly perMinute: number;
  readonly p99Ms: number;
  /** How late the server's event loop was, in milliseconds. */
  readonly loopP99Ms: number;
  readonly loopMostMs: number;
  /** Of the server alone. */
  readonly rssMib: number;
}

/** Full load of new questions over time. */
export interface Flat {
  readonly depth: number;
  readonly callers: number;
  readonly minutes: number;
  /** Of the whole time. */
  readonly loopP99Ms: number;
  readonly samples: readonly FlatSample[];
}

interface LoopDelay {
  readonly p99Ms: number;
  readonly mostMs: number;
  readonly wholeP99Ms: number;
}

/** New questions without a pause, of a server of its own. */
export async function measureFlat(
  settings: PeerSettings,
  { depth, callers, minutes }: Pick<Flat, "depth" | "callers" | "minutes">,
  onSample: (sample: FlatSample) => void,
): Promise<Flat> {
  const folder = makeDataFolder();
  const slices = Math.round((minutes * 60) / sliceSeconds);
  // Before, because it takes a core.
  const book = createQuestionBook(folder, 2);
  const perSlice = (mostPerSecond(depth) / 3) * sliceSeconds;
  const files = Array.from({ length: slices }, () =>
    book.write(Math.ceil(perSlice), (nextFen) => ({ fen: nextFen(), depth })),
  );
  const loopFile = join(folder, "loop.jsonl");
  const { server, load, stop } = await startKibitz(settings, {
    nodeOptions: `--import=${new URL("watch-loop.js", import.meta.url)}`,
    env: { BENCH_LOOP_FILE: loopFile },
  });
  const { pid } = server;
  const samples: FlatSample[] = [];
  let wholeP99Ms = 0;
  try {
    process.kill(pid, "SIGUSR2");
    const startedAt = performance.now();
    for (const [index, file] of files.entries()) {
      const { requests, seconds, p99Ms } = await load({
        file,
        callers,
        seconds: sliceSeconds,
        repeats: false,
      });
      const delay = await loopDelay(pid, loopFile, index);
      wholeP99Ms = delay.wholeP99Ms;
      const sample: FlatSample = {
        minute: (performance.now() - startedAt) / 60_000,
        perMinute: (requests / seconds) * 60,
        p99Ms,
        loopP99Ms: delay.p99Ms,
        loopMostMs: delay.mostMs,
        rssMib: rssMib(pid),
      };
      samples.push(sample);
      onSample(sample);
    }
  } finally {
    await stop();
  }
  return { depth, callers, minutes, loopP99Ms: wholeP99Ms, samples };
}

/** What the server writes when it is told to. */
async function loopDelay(pid: number, file: string, index: number): Promise<LoopDelay> {
  process.kill(pid, "SIGUSR2");
  for (;;) {
    const line = existsSync(file) ? readFileSync(file, "utf8").split("\n").slice(0, -1)[index] : undefined;
    if (line !== undefined) {
      return JSON.parse(line);
    }
    await sleep(5);
  }
}
