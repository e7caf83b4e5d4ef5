/**
 * A process for each request, the usual first version: an engine is started, asked one question and ended.
 *
 *     node process-each.ts <port> <engines, of no use here> <MiB of hash> <command of the engine...>
 */
import { spawn } from "node:child_process";
import { createServer } from "node:http";
import { createInterface } from "node:readline";
import { json } from "node:stream/consumers";

const [port, , hashMb, command = "", ...args] = process.argv.slice(2);

interface Answer {
  readonly score: string | undefined;
  readonly bestmove: string | undefined;
  readonly pv: readonly string[];
}

async function evaluate(fen: string, depth: number): Promise<Answer> {
  const engine = spawn(command, args, { stdio: ["pipe", "pipe", "ignore"] });
  engine.stdin.write(
    `setoption name Threads value 1\nsetoption name Hash value ${hashMb}\nsetoption name UCI_ShowWDL value true\nposition fen ${fen}\ngo depth ${depth}\n`,
  );
  let info = "";
  for await (const line of createInterface(engine.stdout)) {
    if (line.startsWith("info depth") && line.includes(" pv ")) {
      info = line;
    }
    if (line.startsWith("bestmove")) {
      engine.kill("SIGKILL");
      return {
        score: /score (\w+ -?\d+)/.exec(info)?.[1],
        bestmove: line.split(" ")[1],
        pv: info.split(" pv ")[1]?.split(" ") ?? [],
      };
    }
  }
  throw new Error("the engine ended");
}

createServer(async (request, response) => {
  const { fen, depth } = (await json(request)) as { readonly fen: string; readonly depth: number };
  const answer = await evaluate(fen, depth);
  response.setHeader("content-type", "application/json");
  response.end(JSON.stringify(answer));
}).listen(Number(port), "127.0.0.1");
