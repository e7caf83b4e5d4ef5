import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { afterAll, beforeAll, expect, vi } from "vitest";
import { descendantsOf, stillRunning } from "../engine/processes.ts";
import { patienceMs } from "../support/patience.ts";
import { quickestSettings } from "../support/quickest-settings.ts";
import { type Server, startServer } from "../support/start-server.ts";
import { useTemporaryFolder } from "../support/temporary-folder.ts";
import { aheadOfOthers } from "./ahead-of-others.ts";
import { type Answer, ask, post } from "./ask.ts";
import { descriptorsOf, ranMs } from "./processes-of.ts";

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

/** Searches at a time, unless a file says otherwise: as many as the smallest machine has cores. */
const slots = 2;

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
  const logged: string[] = [];
  let running: Server | undefined;
  let before = 0;
  const service = () => running ?? expect.fail("the service runs only while tests do");

  beforeAll(async () => {
    running = await startServer(
      {
        ...quickestSettings,
        // So that every search is one.
        KIBITZ_CACHE_MB: "0",
        KIBITZ_KEYS_PER_DAY: "1000000",
        KIBITZ_SLOTS: String(slots),
        KIBITZ_DATA_DIR: folder,
        ...env,
      },
      { cwd: folder, onLog: (line) => logged.push(line) },
    );
    await expectEvaluation(running.url);
    before = descriptorsWithoutEngines(running.pid);
  });

  afterAll(async () => {
    try {
      await expectAsBefore(service(), before, Number(env.KIBITZ_SLOTS ?? slots));
      expect(errorsIn(logged)).toEqual([]);
    } finally {
      // One that has failed must not stay; where all is well it is gone.
      await running?.stop("SIGKILL");
    }
  });

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
    printed: () => logged.join("\n"),
    engines: () => descendantsOf(service().pid),
    get: (path, headers = {}) => ask(service().url + path, { headers }),
    post: (path, body, headers) => post(service().url + path, body, headers),
    stop: () => service().stop(),
  };
}

/** @param before the descriptors that it had when nothing had happened yet */
async function expectAsBefore(service: Server, before: number, slots: number): Promise<void> {
  const { pid, url, port, complaints, ended, isRunning, stop } = service;
  if (!isRunning()) {
    expect(await ended, complaints.join("\n")).toBe(0);
  } else {
    await expectHealthy(service);
    await expectEvaluation(url);
    await vi.waitFor(() => {
      for (const [program, engines] of Map.groupBy(descendantsOf(pid), programOf)) {
        expect(engines.length, program).toBeLessThanOrEqual(slots);
      }
      expect(descriptorsWithoutEngines(pid) - before, "descriptors more").toBeLessThanOrEqual(
        spareDescriptors,
      );
    }, patienceMs);
    const engines = descendantsOf(pid);
    expect(await stop(), complaints.join("\n")).toBe(0);
    await vi.waitFor(() => expect(stillRunning(engines)).toEqual([]), patienceMs);
    await expect(openSocket(port)).rejects.toThrow("ECONNREFUSED");
  }
  // Listeners that pile up, timers that overflow.
  expect(complaints).toEqual([]);
}

/** By the clock, whatever else runs on the machine: a probe that takes longer is not answered. */
const probeMaxMs = 10_000;

/**
 * The probe answers at once, also while much else is going on: in the service's own time, to which a neighbour on the machine adds
 * nothing.
 */
export async function expectHealthy(
  service: Pick<StartedService, "url" | "pid">,
  ownMaxMs = 1000,
): Promise<void> {
  expect(await ownMsOfProbe(service)).toBeLessThan(ownMaxMs);
}

/** For how long the service itself ran until its probe was answered. */
export async function ownMsOfProbe({ url, pid }: Pick<StartedService, "url" | "pid">): Promise<number> {
  using _ahead = aheadOfOthers();
  const ranBefore = ranMs(pid);
  const { status } = await ask(`${url}/healthz`, { signal: AbortSignal.timeout(probeMaxMs) });
  expect(status).toBe(200);
  return ranMs(pid) - ranBefore;
}

/** A caller at an address of which nobody else has asked anything. */
const bystander = { localAddress: "127.0.99.1", method: "POST" };

/** A caller as any other gets an answer: with a key of their own where one is issued. */
export async function expectEvaluation(url: string): Promise<void> {
  const json = { "Content-Type": "application/json" };
  const issued = await ask(`${url}/v1/keys`, { ...bystander, headers: json, body: "{}" });
  const headers =
    issued.status === 200 ? { ...json, Authorization: `Bearer ${JSON.parse(issued.body).key}` } : json;
  const sent = JSON.stringify({ fen: startFen, depth: 6 });
  const { status, body } = await ask(`${url}/v1/eval`, { ...bystander, headers, body: sent });
  expect(status, body).toBe(200);
  expect(JSON.parse(body).best_move.uci).toMatch(/^[a-h][1-8][a-h][1-8]$/);
}

/** What a process runs, with its arguments: engines of one build have that in common. */
function programOf(pid: number): string {
  return readFileSync(`/proc/${pid}/cmdline`, "latin1").replaceAll("\0", " ");
}

function descriptorsWithoutEngines(pid: number): number {
  return descriptorsOf(pid).length - descriptorsOfEngine * descendantsOf(pid).length;
}

/** Lines of the log that tell of errors, and what is no line of the log. */
function errorsIn(lines: readonly string[]): readonly string[] {
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
