/**
 * One engine behind a lock, the usual second version: it is started once, and whoever comes waits until those before
 * are answered. It keeps its hash, so that an answer depends on what was asked before.
 *
 *     node one-engine.ts <port> <engines, of no use here> <MiB of hash> <command of the engine...>
 */
import { spawn } from "node:child_process";
import { createServer } from "node:http";
import { createInterface } from "node:readline";
import { json } from "node:stream/consumers";

const [port, , hashMb, command = "", ...args] = process.argv.slice(2);

const engine = spawn(command, args, { stdio: ["pipe", "pipe", "ignore"] });
engine.stdin.write(
  `setoption name Threads value 1\nsetoption name Hash value ${hashMb}\nsetoption name UCI_ShowWDL value true\n`,
);
let info = "";
let answered = (_bestmove: string): void => {};
createInterface(engine.stdout).on("line", (line) => {
  if (line.startsWith("info depth") && line.includes(" pv ")) {
    info = line;
  } else if (line.startsWith("bestmove")) {
    answered(line.split(" ")[1] ?? "");
  }
});

let lock: Promise<unknown> = Promise.resolve();

function evaluate(fen: string, depth: number): Promise<string> {
  const search = async () => {
    const bestmove = await new Promise<string>((resolve) => {
      answered = resolve;
      engine.stdin.write(`position fen ${fen}\ngo depth ${depth}\n`);
    });
    const score = /score (\w+ -?\d+)/.exec(info)?.[1];
    return JSON.stringify({ score, bestmove, pv: info.split(" pv ")[1]?.split(" ") });
  };
  const answer = lock.then(search);
  lock = answer;
  return answer;
}

createServer(async (request, response) => {
  const { fen, depth } = (await json(request)) as { readonly fen: string; readonly depth: number };
  const answer = await evaluate(fen, depth);
  response.setHeader("content-type", "application/json");
  response.end(answer);
}).listen(Number(port), "127.0.0.1");
