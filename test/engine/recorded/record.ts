/**
 * Records the output of a real engine in one search. Commands to the engine are marked with `>`.
 *
 *     node record.ts <engine> [MultiPV] <go …> > name.txt
 *     node record.ts /usr/games/stockfish 3 "go depth 30 movetime 60" > stockfish-15.1-movetime60.txt
 */
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

// A middlegame position with many good moves.
const fen = "r1bqkb1r/pp3ppp/2n1pn2/2pp4/3P4/2PBPN2/PP3PPP/RNBQK2R w KQkq - 0 6";

const [engine = "", multipv = "1", go = ""] = process.argv.slice(2);
const child = engine.endsWith(".js") ? spawn(process.execPath, [engine]) : spawn(engine);
const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();

async function ask(commands: readonly string[], until: string): Promise<string[]> {
  child.stdin.write(commands.map((command) => `${command}\n`).join(""));
  const said: string[] = [];
  for (;;) {
    const line = (await lines.next()).value ?? process.exit(1);
    said.push(line);
    if (line.startsWith(until)) {
      return said;
    }
  }
}

await ask(["uci"], "uciok");
const setup = [
  "setoption name UCI_ShowWDL value true",
  `setoption name MultiPV value ${multipv}`,
  `position fen ${fen}`,
];
await ask([...setup, "isready"], "readyok");
const said = await ask([go], "bestmove");
console.log([...setup, go].map((command) => `> ${command}`).join("\n"));
console.log(said.join("\n"));
child.kill("SIGKILL");
