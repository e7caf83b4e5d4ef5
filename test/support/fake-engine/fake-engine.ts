/**
 * A small UCI engine for tests, run as a process like any other. It moves by the rules, looks one ply
 * ahead, remembers what a real engine remembers (options, hash), and misbehaves when told to:
 *
 *     node fake-engine.ts [misbehaviour] [milliseconds per iteration]
 */
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import type { Misbehaviour } from "./index.ts";
import { play, rateMoves } from "./moves.ts";

const misbehaviour = process.argv[2] as Misbehaviour | "none" | undefined;
const iterationMs = Number(process.argv[3] ?? 2);

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
let position: readonly string[] = [];
/** Searches since the last new game: what a hash would remember. */
let remembered = 0;
let stopped = false;

const say = (...lines: readonly string[]) => process.stdout.write(lines.map((line) => `${line}\n`).join(""));

function receive(line: string): void {
  const words = line.split(" ");
  switch (words[0]) {
    case "uci":
      if (misbehaviour !== "mute") {
        greet();
      }
      break;
    case "isready":
      say("readyok");
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
      if (misbehaviour === "stuck") {
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
      void search(Number(words[2]), Number(words[4]));
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
    "id name Fake 1.0",
    "id author nobody",
    "option name Debug Log File type string default <empty>",
    "option name Threads type spin default 1 min 1 max 8",
    "option name Hash type spin default 16 min 1 max 1024",
    "option name Clear Hash type button",
    "option name MultiPV type spin default 1 min 1 max 256",
    "option name Skill Level type spin default 20 min 0 max 20",
    "option name UCI_LimitStrength type check default false",
    "option name UCI_Elo type spin default 1320 min 1320 max 3190",
    "option name UCI_Chess960 type check default false",
    "option name UCI_ShowWDL type check default false",
    "uciok",
  );
}

function hearNothing(): never {
  for (;;) {
    // Until it is killed.
  }
}

async function search(depth: number, movetimeMs: number): Promise<void> {
  const startedAt = performance.now();
  const elapsedMs = () => Math.round(performance.now() - startedAt);
  stopped = false;
  remembered++;
  switch (misbehaviour) {
    case "exit":
      process.exit(1);
      break;
    case "refuse":
      say("info string CRITICAL ERROR: the position is refused");
      return;
    case "no-move":
      say("bestmove (none)");
      return;
    case "flood":
      process.stdout.write("x".repeat(200_000));
      return;
  }
  const { chess, seen } = play(position);
  const chess960 = options.UCI_Chess960 === "true";
  const rated = rateMoves(chess, seen, chess960);
  const weak = options["Skill Level"] !== defaults["Skill Level"];
  const moves = (weak ? rated.toReversed() : rated).slice(0, Number(options.MultiPV));
  const perIteration = rated.length + 100 * remembered + (chess960 ? 1 : 0);
  const print = (at: number, more = "") =>
    say(
      ...moves.map(({ uci, score, reply }, index) =>
        `info depth ${at} seldepth ${at} multipv ${index + 1} score ${score}${more} wdl 300 400 300 nodes ${at * perIteration} nps 1000 hashfull 0 time ${elapsedMs()} pv ${uci} ${reply ?? ""}`.trim(),
      ),
    );

  let at = 1;
  for (; at <= depth && !stopped; at++) {
    if (at > 1) {
      await sleep(iterationMs);
    }
    if (at > 1 && (elapsedMs() >= movetimeMs || stopped)) {
      // Half-finished, as Stockfish prints it.
      print(at, " lowerbound");
      break;
    }
    print(at);
    if (misbehaviour === "hang") {
      await sleep(1);
      hearNothing();
    }
  }
  if (misbehaviour === "go-on") {
    return;
  }
  const [best] = moves;
  say(`bestmove ${best?.uci ?? "(none)"}${best?.reply ? ` ponder ${best.reply}` : ""}`);
}

createInterface({ input: process.stdin })
  .on("line", receive)
  .on("close", () => process.exit());
