import { spawn } from "node:child_process";
import { type BenchEngine, hashMb } from "../engine.ts";

interface BareEngine {
  /** `position` is written as in UCI: `fen … moves …`. Returns the best move in UCI notation. */
  search(position: string, depth: number): Promise<string>;
  stop(): void;
}

/** Starts an engine that gets `ucinewgame` before each search. `hash` is in MiB. */
export async function startBareEngine({ command }: BenchEngine, hash = hashMb): Promise<BareEngine> {
  const child = spawn(command.file, command.args, { env: {}, stdio: ["pipe", "pipe", "ignore"] });
  const kill = () => void child.kill("SIGKILL");
  process.on("exit", kill);
  let awaited = "";
  let heard = "";
  let wake = (_line: string): void => {};
  child.stdout.setEncoding("latin1").on("data", (text: string) => {
    // Keep the end of the output, because the last line may arrive in two parts.
    heard = (heard + text).slice(-4096);
    const at = heard.lastIndexOf(awaited);
    if (at >= 0 && heard.endsWith("\n")) {
      const line = heard.slice(at);
      heard = "";
      wake(line);
    }
  });
  const exchange = (commands: string, until: string): Promise<string> => {
    awaited = until;
    return new Promise((resolve) => {
      wake = resolve;
      child.stdin.write(commands);
    });
  };
  await exchange(
    `uci\nsetoption name Threads value 1\nsetoption name Hash value ${hash}\nsetoption name UCI_ShowWDL value true\nisready\n`,
    "readyok",
  );
  return {
    async search(position, depth) {
      const line = await exchange(`ucinewgame\nposition ${position}\ngo depth ${depth}\n`, "bestmove");
      return line.split(/\s/)[1] ?? "";
    },
    stop() {
      process.off("exit", kill);
      kill();
    },
  };
}
