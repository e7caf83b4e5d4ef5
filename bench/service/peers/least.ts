/**
 * A service without validation, limits, log and cache.
 *     node least.ts <port> <engines> <MiB of hash> <command of the engine...>
 */
import { spawn } from "node:child_process";
import { createServer, type ServerResponse } from "node:http";

const [port, engines, hashMb, command = "", ...args] = process.argv.slice(2);

interface Question {
  readonly fen: string;
  readonly depth: number;
}

interface Engine {
  ask(question: Question, response: ServerResponse): void;
}

const line: (readonly [Question, ServerResponse])[] = [];
const idle: Engine[] = Array.from({ length: Number(engines) }, startEngine);

function startEngine(): Engine {
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "ignore"] });
  let asking: ServerResponse | undefined;
  let text = "";
  child.stdout.setEncoding("latin1").on("data", (chunk: string) => {
    text += chunk;
    if (!text.endsWith("\n") || !text.includes("bestmove ")) {
      return;
    }
    const answer = answerFrom(text);
    text = "";
    // Clear the hash table now, while the engine has no search.
    child.stdin.write("ucinewgame\n");
    asking?.end(answer);
    const next = line.shift();
    if (next) {
      engine.ask(...next);
    } else {
      idle.push(engine);
    }
  });
  child.stdin.write(
    `uci\nsetoption name Threads value 1\nsetoption name Hash value ${hashMb}\nsetoption name UCI_ShowWDL value true\n`,
  );
  const engine: Engine = {
    ask({ fen, depth }, response) {
      asking = response;
      child.stdin.write(`position fen ${fen}\ngo depth ${depth}\n`);
    },
  };
  return engine;
}

function answerFrom(text: string): string {
  const info = text.slice(text.lastIndexOf("\ninfo depth ", text.lastIndexOf(" pv ")));
  const [, unit, value] = / score (cp|mate) (-?\d+)/.exec(info) ?? [];
  const [, pv = ""] = / pv (.+)/.exec(info) ?? [];
  const [, bestmove] = /bestmove (\S+)/.exec(text) ?? [];
  return JSON.stringify({ score: { unit, value: Number(value) }, bestmove, pv: pv.split(" ") });
}

createServer((request, response) => {
  let body = "";
  request.setEncoding("utf8").on("data", (chunk: string) => {
    body += chunk;
  });
  request.on("end", () => {
    const question: Question = JSON.parse(body);
    response.setHeader("content-type", "application/json");
    const engine = idle.pop();
    if (engine) {
      engine.ask(question, response);
    } else {
      line.push([question, response]);
    }
  });
}).listen(Number(port), "127.0.0.1");
