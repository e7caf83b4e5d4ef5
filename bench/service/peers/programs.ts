import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { openSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { freePort } from "../../../test/support/free-port.ts";
import { hashMb } from "../engine.ts";
import type { Peer, PeerSettings, StartedPeer } from "../peer.ts";
import { loadByWrk } from "../wrk.ts";

const startMaxMs = 30_000;

export const least: Peer = {
  name: "least",
  about:
    "the least service with the same promise (`node:http`, engines that get `ucinewgame` behind every answer, one queue, nothing else)",
  keepsHash: false,
  start: (settings) => startService(process.execPath, "least.ts", settings),
};

export const pythonChess: Peer = {
  name: "python-chess",
  about: "python-chess behind FastAPI and uvicorn, as many engines as slots in a queue; they keep their hash",
  keepsHash: true,
  lack: async ({ python }) =>
    promisify(execFile)(python, ["-c", "import chess, fastapi, uvicorn"]).then(
      () => undefined,
      () => `${python} has no chess, fastapi or uvicorn (pip install chess fastapi "uvicorn[standard]")`,
    ),
  start: (settings) => startService(settings.python, "python_chess.py", settings),
};

async function startService(
  interpreter: string,
  program: string,
  { engine: { command }, slots, folder }: PeerSettings,
): Promise<StartedPeer> {
  const { pid, url, stop } = await startProgram(
    interpreter,
    program,
    [String(slots), String(hashMb), command.file, ...command.args],
    folder,
  );
  return {
    pid,
    stop,
    load: (load) => loadByWrk({ ...load, url, headers: {} }),
    async bestMoveOf(fen, depth) {
      const response = await post(url, { fen, depth });
      const { bestmove } = (await response.json()) as { readonly bestmove: string };
      return bestmove;
    },
  };
}

export interface Program {
  readonly pid: number;
  readonly url: string;
  stop(): Promise<unknown>;
}

/** Runs a program from this folder on a free port. Resolves when the program has answered a first request. */
export async function startProgram(
  interpreter: string,
  program: string,
  args: readonly string[],
  folder: string,
  input = "",
): Promise<Program> {
  const port = await freePort();
  const path = fileURLToPath(new URL(program, import.meta.url));
  const output = openSync(join(folder, `${program}.log`), "a");
  // Start a process group, so that the engines are killed together with the program.
  const child = spawn(interpreter, [path, String(port), ...args], {
    stdio: ["pipe", output, output],
    detached: true,
  });
  const { pid } = child;
  if (pid === undefined) {
    throw new Error(`${interpreter} cannot be started`);
  }
  child.stdin?.end(input);
  const exited = once(child, "exit");
  const kill = () => void process.kill(-pid, "SIGKILL");
  process.on("exit", kill);
  child.on("exit", () => process.off("exit", kill));
  const url = `http://127.0.0.1:${port}/`;
  const late = performance.now() + startMaxMs;
  const isReady = () =>
    post(url, { fen: "7k/8/8/8/8/8/R7/1R4K1 w - - 0 1", depth: 1 }).then(
      ({ ok }) => ok,
      () => false,
    );
  while (!(await isReady())) {
    if (performance.now() > late || child.exitCode !== null) {
      throw new Error(`${program} does not answer`);
    }
    await sleep(50);
  }
  return {
    pid,
    url,
    async stop() {
      kill();
      await exited;
    },
  };
}

function post(url: string, body: object): Promise<Response> {
  const headers = { "content-type": "application/json" };
  return fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
}
