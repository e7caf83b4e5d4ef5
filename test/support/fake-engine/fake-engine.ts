/**
 * A small UCI engine for tests, which runs as a process and can misbehave. The engine searches one ply. It has options and a
 * hash like a real engine.
 * Usage: node fake-engine.ts [misbehaviour] [milliseconds per iteration] [learned|simple] [name]
 */
import { closeSync, writeSync } from "node:fs";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { type Go, goFrom } from "./go.ts";
import type { Misbehaviour } from "./index.ts";
import { play, rateMoves } from "./moves.ts";
import { stockfishOptions } from "./stockfish-options.ts";

const misbehaviour = process.argv[2] as Misbehaviour | "none" | undefined;
const iterationMs = Number(process.argv[3] ?? 2);

/**
 * The server tests every new engine with this mate in two, which a search of one ply cannot find. With the argument `learned`,
 * the fake engine knows the answer.
 */
const mateInTwo = "7k/8/8/8/8/8/R7/1R4K1";
const learned = process.argv[4] === "learned";

const defaults = {
  Threads: "1",
  Hash: "16",
  MultiPV: "1",
  "Skill Level": "20",
  UCI_LimitStrength: "false",
  UCI_Elo: "1320",
  UCI_Chess960: "false",
  UCI_ShowWDL: "false",
};
const options: Record<string, string> = { ...defaults };
const deepest = 245;
let position: readonly string[] = [];
/** The number of searches since the last `ucinewgame`. Stands for the content of a real engine's hash. */
let remembered = 0;
let searches = 0;
let stopped = false;

let speaking = Promise.resolve();

function say(...lines: readonly string[]): void {
  const text = lines.map((line) => `${line}\n`).join("");
  if (misbehaviour !== "half-lines") {
    process.stdout.write(text);
    return;
  }
  for (let at = 0; at < text.length; at += 37) {
    speaking = speaking.then(() => sleep(1)).then(() => void process.stdout.write(text.slice(at, at + 37)));
  }
}

/** Writes lines endlessly. */
function flood(): never {
  const lines = "info string more and more of the same\n".repeat(1000);
  for (;;) {
    try {
      writeSync(1, lines);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") {
        process.exit();
      }
    }
  }
}

function receive(line: string): void {
  const words = line.split(" ");
  switch (words[0]) {
    case "uci":
      if (misbehaviour === "late") {
        setTimeout(greet, 1000);
      } else if (misbehaviour !== "mute") {
        greet();
      }
      break;
    case "isready":
      if (misbehaviour !== "unready") {
        say("readyok");
      }
      if (remembered === 0 && searches > 0) {
        whenIdle();
      }
      break;
    case "setoption": {
      const [, name = "", value = ""] = /^setoption name (.+) value (.+)$/.exec(line) ?? [];
      if (!(name in options)) {
        throw new Error(`no such option: ${line}`);
      }
      options[name] = value;
      break;
    }
    case "ucinewgame":
      if (misbehaviour === "stuck" && remembered > 0) {
        hearNothing();
      }
      if (misbehaviour !== "remember") {
        remembered = 0;
      }
      break;
    case "position":
      position = words;
      break;
    case "go":
      void search(goFrom(words));
      break;
    case "stop":
      stopped = true;
      break;
    case "quit":
      process.exit();
  }
}

function greet(): void {
  say(
    "Fake Engine by nobody",
    `id name ${process.argv[5] ?? "Fake 1.0"}`,
    "id author nobody",
    "option name Debug Log File type string default <empty>",
    ...stockfishOptions,
    "uciok",
  );
}

function whenIdle(): void {
  if (misbehaviour === "flood-idle") {
    flood();
  }
  if (misbehaviour === "twice-late") {
    setTimeout(() => say("bestmove e2e4"), 20);
  }
}

function hearNothing(): never {
  for (;;) {}
}

async function search({ depth, nodes, movetimeMs, searchMoves }: Go): Promise<void> {
  const startedAt = performance.now();
  const elapsedMs = () => Math.round(performance.now() - startedAt);
  stopped = false;
  remembered++;
  searches++;
  switch (misbehaviour) {
    case "exit":
      process.exit(1);
      break;
    case "no-move":
      say("bestmove (none)");
      return;
    case "flood":
      process.stdout.write("x".repeat(200_000));
      return;
    case "flood-stderr":
      process.stderr.write("complaint\n".repeat(1_000_000));
      break;
    case "garbage":
      process.stdout.write(
        Buffer.from(Array.from({ length: 4096 }, (_, at) => (at * 73 + (at >> 8)) & 0xff)),
      );
      process.stdout.write("\n");
      break;
  }
  const { chess, seen } = play(position);
  const chess960 = options.UCI_Chess960 === "true";
  const rated = rateMoves(chess, seen, chess960).filter(
    ({ uci }) => searchMoves.length === 0 || searchMoves.includes(uci),
  );
  const weak = options["Skill Level"] !== defaults["Skill Level"];
  const moves = (weak ? rated.toReversed() : rated).slice(0, Number(options.MultiPV));
  const scoreOf = (score: string) => (learned && position.includes(mateInTwo) ? "mate 2" : score);
  const perIteration = rated.length + 100 * remembered + (chess960 ? 1 : 0);
  // The fake hash has the same number of entries for every size.
  const hashfull = Math.floor(160 / Number(options.Hash));
  const print = (at: number, more = "") =>
    say(
      ...moves.map(({ uci, score, reply }, index) =>
        `info depth ${at} seldepth ${at} multipv ${index + 1} score ${scoreOf(score)}${more} wdl 300 400 300 nodes ${at * perIteration} nps 1000 hashfull ${hashfull} time ${elapsedMs()} pv ${uci} ${reply ?? ""}`.trim(),
      ),
    );

  let at = 1;
  for (; at <= Math.min(depth, deepest) && !stopped; at++) {
    if (at > 1) {
      await sleep(iterationMs);
    }
    if (at > 1 && (elapsedMs() >= movetimeMs || at * perIteration >= nodes || stopped)) {
      // Stockfish also reports unfinished iterations.
      print(at, " lowerbound");
      break;
    }
    print(at);
    misbehaveInSearch();
    if (misbehaviour === "hang") {
      await sleep(1);
      hearNothing();
    }
  }
  if (misbehaviour === "go-on") {
    return;
  }
  const [best] = moves;
  if (misbehaviour === "half-answer") {
    process.stdout.write("bestmove e2");
    return;
  }
  if (misbehaviour === "illegal") {
    say("bestmove a1h8");
    return;
  }
  if (misbehaviour === "twice") {
    say(`bestmove ${best?.uci}`, `bestmove ${best?.uci}`);
    return;
  }
  say(`bestmove ${best?.uci ?? "(none)"}${best?.reply ? ` ponder ${best.reply}` : ""}`);
}

function misbehaveInSearch(): void {
  switch (misbehaviour) {
    case "exit-0":
      process.exit(0);
      break;
    case "flood-lines":
      flood();
      break;
    case "close-output":
      closeSync(1);
      setInterval(() => {}, 60_000);
      break;
    case "close-input":
      closeSync(0);
      hearNothing();
  }
}

if (misbehaviour === "undying") {
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP", "SIGPIPE"] as const) {
    process.on(signal, () => {});
  }
  setInterval(() => {}, 60_000);
}

createInterface({ input: process.stdin })
  .on("line", receive)
  .on("close", () => misbehaviour !== "undying" && process.exit());
