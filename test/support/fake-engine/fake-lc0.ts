/**
 * A small UCI engine for tests that behaves like Lc0: it has no meaning for depth, equal searches differ, the first search of a
 * process is slow, and each report describes the whole tree. Its network is the file in the option `WeightsFile` or in the
 * argument `--weights=file`. Usage: node fake-lc0.ts [slow ms] [--weights=file]
 */
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { goFrom } from "./go.ts";
import { play, rateMoves } from "./moves.ts";

const [slowMs = "0", ...args] = process.argv.slice(2);
const options: Record<string, string> = {
  WeightsFile: args.find((arg) => arg.startsWith("--weights="))?.slice("--weights=".length) ?? "",
  Greeting: "",
  MultiPV: "1",
  UCI_Chess960: "false",
  UCI_ShowWDL: "false",
  MinibatchSize: "0",
};
const start = "position fen rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1".split(" ");
let position: readonly string[] = start;
let searches = 0;
let stopped = false;

const say = (...lines: readonly string[]) => process.stdout.write(lines.map((line) => `${line}\n`).join(""));

async function search(words: readonly string[]): Promise<void> {
  const { nodes, movetimeMs, searchMoves } = goFrom(words);
  const startedAt = performance.now();
  stopped = false;
  if (searches++ === 0) {
    await sleep(Number(slowMs));
  }
  if (options.WeightsFile) {
    readFileSync(options.WeightsFile);
  }
  const { chess, seen } = play(position);
  const moves = rateMoves(chess, seen, options.UCI_Chess960 === "true")
    .filter(({ uci }) => searchMoves.length === 0 || searchMoves.includes(uci))
    .slice(0, Number(options.MultiPV));
  // Each report of this process has other numbers, as with several threads.
  let visited = 0;
  while (visited < nodes && !stopped && performance.now() - startedAt < movetimeMs) {
    await sleep(1);
    visited = Math.min(visited + 1 + (searches % 7), nodes);
    const time = Math.round(performance.now() - startedAt);
    say(
      ...moves.map(
        ({ uci, reply }, index) =>
          `info depth 2 seldepth 3 time ${time} nodes ${visited} score cp ${100 + searches - index} wdl 500 300 200 tbhits 0 multipv ${index + 1} pv ${uci} ${reply ?? ""}`,
      ),
    );
  }
  say(`bestmove ${moves[0]?.uci ?? "(none)"}`);
}

createInterface({ input: process.stdin })
  .on("line", (line) => {
    const words = line.split(" ");
    switch (words[0]) {
      case "uci":
        say(
          "id name Lc0 v0.99.0+git.fake",
          "id author nobody",
          "option name WeightsFile type string default <autodiscover>",
          "option name Greeting type string default",
          "option name MultiPV type spin default 1 min 1 max 500",
          "option name MinibatchSize type spin default 0 min 0 max 1024",
          "option name UCI_Chess960 type check default false",
          "option name UCI_ShowWDL type check default false",
          "uciok",
        );
        break;
      case "isready":
        say("readyok");
        break;
      case "setoption": {
        const [, name = "", value = ""] = /^setoption name (.+) value (.*)$/.exec(line) ?? [];
        options[name] = value;
        break;
      }
      case "position":
        position = words[1] === "startpos" ? start : words;
        break;
      case "go":
        void search(words);
        break;
      case "stop":
        stopped = true;
    }
  })
  .on("close", () => process.exit());
