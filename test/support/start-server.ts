import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "./free-port.ts";
import { type KibitzOptions, type KibitzProcess, startKibitz } from "./start-kibitz.ts";

export interface Server extends Omit<KibitzProcess, "stdout" | "stderr"> {
  readonly url: string;
  readonly port: number;
  /** The lines on standard error, such as warnings of Node. */
  readonly complaints: string[];
}

export interface ServerOptions extends KibitzOptions {
  readonly args?: readonly string[];
  readonly port?: number;
  readonly onLog?: (line: string) => void;
  /**
   * Called if the server counts an error that nothing caught. By default, the error is thrown in this process, where nothing
   * catches it either: the run of the tests fails, whatever the tests are about.
   */
  readonly onUnhandled?: (line: string) => void;
}

/** Matches the log lines of errors that nothing caught, and the last line of a server that has counted such errors. */
const unhandled = /"unhandled":[1-9]|"msg":"an error (?:that nothing caught|outside of every request)/;

function failRun(line: string): void {
  queueMicrotask(() => {
    throw new Error(`a server had an error that nothing caught: ${line}`);
  });
}

/** The longest time for a start on a busy machine, in milliseconds. */
const startMaxMs = 120_000;

/**
 * Starts a server on a free port, and resolves when the server is ready. With `stdout: "ignore"`, asks the server whether it is
 * ready, instead of reading the log.
 * @param env the complete environment of the process. Metrics are off by default, because all servers would use the same port.
 */
export async function startServer(
  env: NodeJS.ProcessEnv,
  {
    args = ["serve"],
    port: given = 0,
    onLog = () => {},
    onUnhandled = failRun,
    ...options
  }: ServerOptions = {},
): Promise<Server> {
  const isAsked = options.stdout !== undefined;
  const port = isAsked && given === 0 ? await freePort() : given;
  const kibitz = startKibitz(args, { KIBITZ_METRICS_PORT: "0", ...env, KIBITZ_PORT: String(port) }, options);
  const { stdout, stderr, ...rest } = kibitz;
  const ready = Promise.withResolvers<string>();
  createInterface(stdout).on("line", (line) => {
    onLog(line);
    if (unhandled.test(line)) {
      onUnhandled(line);
    }
    const url = /"url":"(http:[^"]+)".*"msg":"ready/.exec(line)?.[1];
    if (url !== undefined) {
      ready.resolve(url);
    }
  });
  const complaints: string[] = [];
  createInterface(stderr).on("line", (line) => {
    complaints.push(line);
    console.error(line);
  });
  kibitz.ended.then((code) =>
    ready.reject(new Error(`the server ended with ${code} before it was ready: ${complaints.join("\n")}`)),
  );
  if (isAsked) {
    void askUntilReady(`http://127.0.0.1:${port}`, kibitz, ready.resolve);
  }
  const late = setTimeout(() => kibitz.stop("SIGKILL"), startMaxMs);
  const url = await ready.promise.finally(() => clearTimeout(late));
  return { ...rest, url, port: Number(new URL(url).port), complaints };
}

async function askUntilReady(
  url: string,
  { isRunning }: KibitzProcess,
  resolve: (url: string) => void,
): Promise<void> {
  while (isRunning()) {
    const isReady = await fetch(`${url}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isReady) {
      resolve(url);
      return;
    }
    await sleep(50);
  }
}
