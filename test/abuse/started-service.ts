import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { afterAll, beforeAll, expect, inject, vi } from "vitest";
import { descendantsOf, stillRunning } from "../engine/processes.ts";
import { patienceMs } from "../support/patience.ts";
import { type Server, startServer } from "../support/start-server.ts";
import { useTemporaryFolder } from "../support/temporary-folder.ts";
import { type Answer, ask, patiently, post } from "./ask.ts";
import { descriptorsOf } from "./processes-of.ts";
import { serviceSettings, slots } from "./service-settings.ts";

export interface StartedService {
  /** Throws if no test is running, because the service is started after the test file is loaded. */
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  readonly folder: string;
  printed(): string;
  engines(): readonly number[];
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<Answer>;
  post(
    path: string,
    body: object | string | Uint8Array,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Answer>;
}

export interface OwnService extends StartedService {
  /** Resolves with the exit code. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

/** The number of file descriptors that a service may open after its first response and keep open. */
const spareDescriptors = 4;
/** The service has two pipes to each engine, and one descriptor that watches the engine's process. */
const descriptorsOfEngine = 3;

export const startFen = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

/**
 * Starts a service before the tests of a file, and stops it with SIGTERM after the tests. Fails if the service is not healthy
 * (see {@link expectHealthy}) or does not exit with 0.
 */
export function useService(env: Readonly<Record<string, string>> = {}): OwnService {
  const folder = useTemporaryFolder();
  const logged: string[] = [];
  let running: Server | undefined;
  let killed = false;
  let descriptorsBefore = 0;
  const service = () => running ?? expect.fail("the service runs only while tests do");

  beforeAll(async () => {
    running = await startServer(
      { ...serviceSettings, KIBITZ_DATA_DIR: folder, ...env },
      { cwd: folder, onLog: (line) => logged.push(line) },
    );
    await expectEvaluation(running.url);
    descriptorsBefore = descriptorsWithoutEngines(running.pid);
  });

  afterAll(async () => {
    const server = service();
    try {
      if (server.isRunning()) {
        await expectHealthy(server, descriptorsBefore, Number(env.KIBITZ_SLOTS ?? slots) + 1);
        const engines = descendantsOf(server.pid);
        expect(await server.stop(), server.complaints.join("\n")).toBe(0);
        expect(stillRunning(engines)).toEqual([]);
        await expect(openSocket(server.port)).rejects.toThrow("ECONNREFUSED");
      } else {
        expect(await server.ended, server.complaints.join("\n")).toBe(killed ? null : 0);
      }
      // Node complains about too many event listeners and about timers that overflow.
      expect(server.complaints).toEqual([]);
      expect(errorsIn(logged)).toEqual([]);
    } finally {
      // If an assertion has failed, the service may still run.
      await server.stop("SIGKILL");
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
    stop: (signal = "SIGTERM") => {
      killed = signal === "SIGKILL";
      return service().stop(signal);
    },
  };
}

/**
 * Returns the service of `shared-service.ts`, for test files that need no special settings. Fails if the service is not healthy
 * after the tests of a file (see {@link expectHealthy}).
 */
export function useSharedService(): StartedService {
  const { url, port, pid, folder, logFile } = inject("sharedService");
  const printedSinceStart = () => readFileSync(logFile, "utf8");
  const printedBefore = printedSinceStart().length;
  const printed = () => printedSinceStart().slice(printedBefore);
  let descriptorsBefore = 0;

  beforeAll(async () => {
    await expectEvaluation(url);
    descriptorsBefore = descriptorsWithoutEngines(pid);
  });

  afterAll(async () => {
    await expectHealthy({ url, pid }, descriptorsBefore, slots + 1);
    expect(errorsIn(printed().trimEnd().split("\n"))).toEqual([]);
  });

  return {
    url,
    port,
    pid,
    folder,
    printed,
    engines: () => descendantsOf(pid),
    get: (path, headers = {}) => ask(url + path, { headers }),
    post: (path, body, headers) => post(url + path, body, headers),
  };
}

/**
 * Fails unless the service evaluates a position and answers health probes with 200. Also fails if too many engines or a connection
 * are still open.
 * @param enginesMax one engine for each slot, and one engine for the express place
 */
async function expectHealthy(
  service: Pick<StartedService, "url" | "pid">,
  descriptorsBefore: number,
  enginesMax: number,
): Promise<void> {
  await expectEvaluation(service.url);
  await vi.waitFor(() => {
    for (const [program, engines] of Map.groupBy(descendantsOf(service.pid), programOf)) {
      expect(engines.length, program).toBeLessThanOrEqual(enginesMax);
    }
    expect(
      descriptorsWithoutEngines(service.pid) - descriptorsBefore,
      "descriptors more",
    ).toBeLessThanOrEqual(spareDescriptors);
  }, patienceMs);
  await expectProbesAnswered(service);
}

export async function expectProbesAnswered({ url }: Pick<StartedService, "url">): Promise<void> {
  for (let probe = 0; probe < 20; probe++) {
    const { status } = await ask(`${url}/healthz`);
    expect(status).toBe(200);
  }
}

/** An ordinary caller. No attack uses the address of this caller. */
const bystander = { localAddress: "127.0.99.1", method: "POST" };

/**
 * Fails if an ordinary caller gets no evaluation. The caller creates a key if the service issues keys, and tries again if the
 * service is too busy.
 */
export async function expectEvaluation(url: string): Promise<void> {
  const json = { "Content-Type": "application/json" };
  const issued = await ask(`${url}/v1/keys`, { ...bystander, headers: json, body: "{}" });
  const headers =
    issued.status === 200 ? { ...json, Authorization: `Bearer ${JSON.parse(issued.body).key}` } : json;
  const sent = JSON.stringify({ fen: startFen, depth: 6 });
  const { status, body } = await patiently(() =>
    ask(`${url}/v1/eval`, { ...bystander, headers, body: sent }),
  );
  expect(status, body).toBe(200);
  expect(JSON.parse(body).best_move.uci).toMatch(/^[a-h][1-8][a-h][1-8]$/);
}

function programOf(pid: number): string {
  return readFileSync(`/proc/${pid}/cmdline`, "latin1").replaceAll("\0", " ");
}

function descriptorsWithoutEngines(pid: number): number {
  return descriptorsOf(pid).length - descriptorsOfEngine * descendantsOf(pid).length;
}

/** Returns the log lines of level error, and the lines that are not JSON. */
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
