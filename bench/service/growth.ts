import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { copyCheckout } from "../../test/support/copy-checkout.ts";
import { makeDataFolder } from "../data-folder.ts";
import { type BenchEngine, nativeEngine } from "./engine.ts";
import type { PeerSettings } from "./peer.ts";
import { type StartedKibitz, startKibitz } from "./peers/kibitz.ts";
import { mostPerSecond, type QuestionBook } from "./questions.ts";
import type { Turn } from "./statistics.ts";
import { measure } from "./turns.ts";

/** One thing that grows, and nothing else. */
export interface Sweep {
  readonly name: SweepName;
  readonly steps: readonly Step[];
}

export interface Step {
  readonly value: number;
  readonly turns: readonly Turn[];
  /** Positions in each request. */
  readonly positions: number;
}

export type SweepName = keyof typeof sweeps;

interface Recipe {
  readonly values: readonly number[];
  /** What is asked: with 8 callers at depth 8, unless the value says otherwise. */
  readonly at: (value: number) => Asked;
}

interface Asked {
  readonly callers?: number;
  readonly slots?: number;
  readonly depth?: number;
  readonly multipv?: number;
  readonly call?: "eval" | "stream" | "batch";
  /** Positions in each request. */
  readonly positions?: number;
  readonly atOnce?: boolean;
}

const powersTo = (most: number) => Array.from({ length: Math.log2(most) + 1 }, (_, power) => 2 ** power);
const from1To = (most: number) => Array.from({ length: most }, (_, index) => index + 1);

export const sweeps = {
  callers: { values: powersTo(512), at: (callers) => ({ callers }) },
  slots: { values: from1To(4), at: (slots) => ({ slots, callers: 64 }) },
  multipv: { values: from1To(10), at: (multipv) => ({ multipv }) },
  depth: { values: from1To(20), at: (depth) => ({ depth }) },
  streams: { values: [1, 10, 100, 300, 1000], at: (callers) => ({ callers, call: "stream" }) },
  batch: {
    values: [1, 2, 5, 10, 20, 50, 100],
    at: (positions) => ({ positions, callers: 2, call: "batch" }),
  },
  "at-once": { values: powersTo(512), at: (callers) => ({ callers, depth: 1, atOnce: true }) },
} satisfies Readonly<Record<string, Recipe>>;

export const sweepNames = Object.keys(sweeps) as readonly SweepName[];

const calls = {
  eval: { path: "/v1/eval", forbidden: undefined },
  // What no answer may have, because the status is 200 whatever comes of it.
  stream: { path: "/v1/eval/stream", forbidden: "event: error" },
  batch: { path: "/v1/eval/batch", forbidden: '"result":null' },
} as const;

/** Up and down again by round, so that what the machine does meanwhile bends no curve. */
export async function measureSweep(
  name: SweepName,
  settings: PeerSettings,
  { rounds, warmSeconds, seconds }: Readonly<Record<"rounds" | "warmSeconds" | "seconds", number>>,
  book: QuestionBook,
): Promise<Sweep> {
  const { values, at }: Recipe = sweeps[name];
  const turns = new Map(values.map((value): [number, Turn[]] => [value, []]));
  const engine = at(1).atOnce ? await atOnceEngine() : settings.engine;
  /** One for all steps, but where a step says how it is started. */
  let started: { readonly kibitz: StartedKibitz; readonly slots: number } | undefined;
  for (let round = 0; round < rounds; round++) {
    for (const value of round % 2 === 0 ? values : values.toReversed()) {
      const asked = at(value);
      const slots = asked.slots ?? settings.slots;
      if (started?.slots !== slots) {
        await started?.kibitz.stop();
        started = { kibitz: await startWarm({ ...settings, engine, slots }, warmSeconds, book), slots };
      }
      const { kibitz } = started;
      turns.get(value)?.push(await measure(kibitz.pid, () => ask(kibitz, asked, seconds, book)));
    }
  }
  await started?.kibitz.stop();
  return {
    name,
    steps: values.map((value) => ({
      value,
      turns: turns.get(value) ?? [],
      positions: at(value).positions ?? 1,
    })),
  };
}

async function startWarm(
  settings: PeerSettings,
  warmSeconds: number,
  book: QuestionBook,
): Promise<StartedKibitz> {
  // All callers have one address here, and lines are as long as it takes.
  const kibitz = await startKibitz(settings, {
    settings: { KIBITZ_CONNECTIONS_PER_ADDRESS: "0", KIBITZ_QUEUE_MAX_WAIT_MS: "600000" },
  });
  await ask(kibitz, { depth: 1 }, warmSeconds, book);
  return kibitz;
}

function ask(kibitz: StartedKibitz, asked: Asked, seconds: number, book: QuestionBook) {
  const { callers = 8, depth = 8, multipv = 1, call = "eval", positions = 1 } = asked;
  // An answer of depth 20 takes seconds, and so do a large batch and the line of a thousand callers.
  const isLong = depth > 16 || callers > 500 || positions >= 50;
  const forSeconds = Math.ceil(seconds * (isLong ? 4 : depth > 12 ? 2 : 1));
  const questions = Math.ceil((mostPerSecond(depth) * forSeconds) / positions) + callers;
  const question = (nextFen: () => string) => ({ fen: nextFen(), depth, ...(multipv > 1 && { multipv }) });
  const file = book.write(questions, (nextFen) =>
    call === "batch"
      ? { requests: Array.from({ length: positions }, () => question(nextFen)) }
      : question(nextFen),
  );
  const { path, forbidden } = calls[call];
  return kibitz.loadAt(path, { file, callers, seconds: forSeconds, repeats: false }, forbidden);
}

/** One that answers at once: in a folder of its own, with a Node of its own: where this checkout is root's alone, engines may not read it. */
export async function atOnceEngine(): Promise<BenchEngine> {
  const folder = makeDataFolder();
  chmodSync(folder, 0o755);
  const program = "bench/service/at-once-engine.ts";
  const node = "node_modules/node/bin/node";
  const copy = copyCheckout(join(folder, "at-once"), [
    "package.json",
    program,
    node,
    "node_modules/chessops",
    "node_modules/@badrap/result",
  ]);
  const file = join(folder, "at-once-engine");
  writeFileSync(file, `#!/bin/sh\nexec "${join(copy, node)}" "${join(copy, program)}"\n`, { mode: 0o755 });
  return nativeEngine(file);
}
