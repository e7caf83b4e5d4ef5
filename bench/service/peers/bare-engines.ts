import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { type BenchEngine, hashMb } from "../engine.ts";
import type { Peer } from "../peer.ts";
import { quantile } from "../statistics.ts";

/** Engines without anything around them. Of more callers than engines, no more ask than there are engines. */
export const bareEngines: Peer = {
  name: "bare engines",
  about: "no service and no HTTP: as many engines as slots, each with `ucinewgame` before every search",
  keepsHash: false,
  async start({ engine, slots }) {
    const engines = await Promise.all(Array.from({ length: slots }, () => startBareEngine(engine)));
    return {
      pid: undefined,
      async bestMoveOf(fen, depth) {
        const [first] = engines;
        return (await first?.search(`fen ${fen}`, depth)) ?? "";
      },
      async load({ file, callers, seconds }) {
        const questions = readFileSync(file, "utf8")
          .split("\n")
          .map((line): { readonly fen: string; readonly depth: number } => JSON.parse(line));
        const tookMs: number[] = [];
        const startedAt = performance.now();
        const endsAt = startedAt + seconds * 1000;
        let next = 0;
        const work = engines.slice(0, callers).map(async ({ search }) => {
          for (;;) {
            const question = questions[next++];
            if (question === undefined) {
              throw new Error(`only ${questions.length} questions are different`);
            }
            const askedAt = performance.now();
            await search(`fen ${question.fen}`, question.depth);
            const now = performance.now();
            // What ends too late is another turn's, as it is with the others.
            if (now > endsAt) {
              return;
            }
            tookMs.push(now - askedAt);
          }
        });
        await Promise.all(work);
        const sorted = tookMs.toSorted((a, b) => a - b);
        return {
          requests: tookMs.length,
          seconds,
          p50Ms: quantile(sorted, 0.5),
          p99Ms: quantile(sorted, 0.99),
        };
      },
      async stop() {
        engines.forEach(({ stop }) => void stop());
      },
    };
  },
};

export interface BareEngine {
  /** @param position as UCI writes it: `fen … moves …` */
  search(position: string, depth: number): Promise<string>;
  stop(): void;
}

/** @param hash of every search, in MiB */
export async function startBareEngine({ command }: BenchEngine, hash = hashMb): Promise<BareEngine> {
  const child = spawn(command.file, command.args, { env: {}, stdio: ["pipe", "pipe", "ignore"] });
  const kill = () => void child.kill("SIGKILL");
  process.on("exit", kill);
  let awaited = "";
  let heard = "";
  let wake = (_line: string): void => {};
  child.stdout.setEncoding("latin1").on("data", (text: string) => {
    // Only the last line counts, which may come in two pieces.
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
