import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, vi } from "vitest";
import { descendantsOf, stillRunning } from "../engine/processes.ts";
import { useTemporaryFolder } from "../support/temporary-folder.ts";
import { type Answer, ask, post } from "./ask.ts";
import { descriptorsOf } from "./processes-of.ts";

/** `kibitz serve` as its users start it, seen from outside. */
export interface StartedService {
  /** `http://127.0.0.1:4711`. Only while tests run, as everything else here. */
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** Folder of its database, which is also its working directory. */
  readonly folder: string;
  /** All that it has printed so far. */
  printed(): string;
  engines(): readonly number[];
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<Answer>;
  post(
    path: string,
    body: object | string | Uint8Array,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Answer>;
  /** Tells it to stop, and resolves with its exit code. For tests of the stop itself. */
  stop(): Promise<number | null>;
}

const main = fileURLToPath(new URL("../../src/main.ts", import.meta.url));

/** Searches at a time, unless a file says otherwise: as many as the smallest machine has cores. */
const slots = 2;

/**
 * The lite network starts at once; no limits, so that abuses reach what lies behind them; no cache, so that every
 * search is one.
 */
const quickest = {
  KIBITZ_PORT: "0",
  KIBITZ_DEFAULT_ENGINE: "stockfish-19-lite",
  KIBITZ_NATIVE_ENGINES: "",
  KIBITZ_ACCESS: "open",
  KIBITZ_CACHE_ENTRIES: "0",
  KIBITZ_KEYS_PER_DAY: "1000000",
  KIBITZ_SLOTS: String(slots),
};

/** A stop waits 15 s for searches and 5 s for their answers; no abuse may make it longer. */
const stopMaxMs = 22_000;

/** Files, sockets and pipes that a healthy service may have more than after its first answer. */
const spareDescriptors = 4;
/** Two pipes and what watches the process. */
const descriptorsOfEngine = 3;

export const startFen = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

/**
 * Starts a service before the tests of a file. After them, whatever was done to it, it must be as healthy as before:
 * it lives, answers its probe at once and an evaluation with 200, has no engine too many, has let go of every
 * connection, has logged no error, and stops when told, with 0 and without leaving a process behind.
 */
export function useService(env: Readonly<Record<string, string>> = {}): StartedService {
  const folder = useTemporaryFolder();
  let running: Running | undefined;
  let before = 0;
  const service = () => running ?? expect.fail("the service runs only while tests do");

  beforeAll(async () => {
    running = await start({ ...quickest, KIBITZ_DATA_DIR: folder, ...env }, folder);
    await expectEvaluation(running.url);
    before = descriptorsWithoutEngines(running.pid);
  });

  afterAll(async () => {
    try {
      await expectAsBefore(service(), before, Number(env.KIBITZ_SLOTS ?? slots));
    } finally {
      // One that has failed must not stay; where all is well it is gone.
      running?.child.kill("SIGKILL");
    }
  }, stopMaxMs + 40_000);

  return {
    get url() {
      return service().url;
    },
    get port() {
      return service().port;
    },
    get pid() {
      return service().pid;
    },
    folder,
    printed: () => service().printed(),
    engines: () => descendantsOf(service().pid),
    get: (path, headers = {}) => ask(service().url + path, { headers }),
    post: (path, body, headers) => post(service().url + path, body, headers),
    stop: () => service().stop(),
  };
}

interface Running {
  readonly child: ChildProcess;
  readonly pid: number;
  readonly url: string;
  readonly port: number;
  printed(): string;
  complained(): string;
  stop(): Promise<number | null>;
}

async function start(env: Readonly<Record<string, string>>, cwd: string): Promise<Running> {
  const child = spawn(process.execPath, [main, "serve"], { cwd, env, stdio: ["ignore", "pipe", "pipe"] });
  let printed = "";
  let complained = "";
  const ready = Promise.withResolvers<string>();
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    printed += text;
    const url = /"url":"(http:[^"]+)"/.exec(printed)?.[1];
    if (url !== undefined) {
      ready.resolve(url);
    }
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    complained += text;
  });
  const exited = once(child, "exit");
  void exited.then(() => ready.reject(new Error(`the service did not start: ${complained}`)));
  const url = await ready.promise;
  return {
    child,
    pid: child.pid ?? 0,
    url,
    port: Number(new URL(url).port),
    printed: () => printed,
    complained: () => complained,
    async stop() {
      child.kill("SIGTERM");
      const late = setTimeout(() => child.kill("SIGKILL"), stopMaxMs);
      const [code] = await exited;
      clearTimeout(late);
      return code as number | null;
    },
  };
}

/** @param before the descriptors that it had when nothing had happened yet */
async function expectAsBefore(service: Running, before: number, slots: number): Promise<void> {
  const { child, pid, url, port, printed, complained, stop } = service;
  if (child.exitCode !== null || child.signalCode !== null) {
    expect(child.exitCode, complained()).toBe(0);
  } else {
    await expectHealthy(url);
    await expectEvaluation(url);
    await vi.waitFor(() => {
      expect(descendantsOf(pid).length, "engines").toBeLessThanOrEqual(slots + 1);
      expect(descriptorsWithoutEngines(pid) - before, "descriptors more").toBeLessThanOrEqual(
        spareDescriptors,
      );
    }, 10_000);
    const engines = descendantsOf(pid);
    expect(await stop(), complained()).toBe(0);
    await vi.waitFor(() => expect(stillRunning(engines)).toEqual([]), 5000);
    await expect(openSocket(port)).rejects.toThrow("ECONNREFUSED");
  }
  expect(errorsIn(printed())).toEqual([]);
  // Warnings of Node land here: listeners that pile up, timers that overflow.
  expect(complained()).toBe("");
}

/** The probe answers at once, also while much else is going on. */
export async function expectHealthy(url: string, maxMs = 1000): Promise<void> {
  const startedAt = performance.now();
  expect((await ask(`${url}/healthz`)).status).toBe(200);
  expect(performance.now() - startedAt).toBeLessThan(maxMs);
}

/** A caller as any other gets an answer: with a key of their own where callers are counted by address. */
export async function expectEvaluation(url: string): Promise<void> {
  const issued = await post(`${url}/v1/keys`, {});
  const headers =
    issued.status === 200 ? { Authorization: `Bearer ${JSON.parse(issued.body).key}` } : undefined;
  const { status, body } = await post(`${url}/v1/eval`, { fen: startFen, depth: 6 }, headers);
  expect(status, body).toBe(200);
  expect(JSON.parse(body).best_move.uci).toMatch(/^[a-h][1-8][a-h][1-8]$/);
}

function descriptorsWithoutEngines(pid: number): number {
  return descriptorsOf(pid).length - descriptorsOfEngine * descendantsOf(pid).length;
}

/** Lines of the log that tell of errors, and what is no line of the log. */
function errorsIn(printed: string): readonly string[] {
  const lines = printed.split("\n").filter(Boolean);
  return lines.filter((line) => !/^\{"level":(10|20|30|40),/.test(line) || !isJson(line));
}

function isJson(line: string): boolean {
  try {
    JSON.parse(line);
    return true;
  } catch {
    return false;
  }
}

async function openSocket(port: number): Promise<void> {
  const socket = connect(port, "127.0.0.1");
  await once(socket, "connect");
  socket.destroy();
}
