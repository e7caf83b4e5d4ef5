import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "./free-port.ts";
import { type KibitzOptions, type KibitzProcess, startKibitz } from "./start-kibitz.ts";

/** `kibitz serve` in a process of its own, ready to be asked. */
export interface Server extends Omit<KibitzProcess, "stdout" | "stderr"> {
  /** `http://127.0.0.1:4711`. */
  readonly url: string;
  readonly port: number;
  /** Lines of its standard error, such as warnings of Node. They are printed as well. */
  readonly complaints: string[];
}

export interface ServerOptions extends KibitzOptions {
  /** `serve`, unless given. */
  readonly args?: readonly string[];
  /** A free one, unless given. */
  readonly port?: number;
  /** Takes the log, line by line. */
  readonly onLog?: (line: string) => void;
}

/** On a machine that is busy with others, too. */
const startMaxMs = 120_000;

/**
 * Starts a server on a free port, and resolves when it is ready: its log says so, and where the log goes elsewhere, the
 * server is asked. One whose log is silent has to be told `stdout: "ignore"`.
 *
 * @param env all of its environment: nothing of this process's own. No metrics, unless it says so: their port is one for the machine.
 */
export async function startServer(
  env: NodeJS.ProcessEnv,
  { args = ["serve"], port: given = 0, onLog = () => {}, ...options }: ServerOptions = {},
): Promise<Server> {
  const isAsked = options.stdout !== undefined;
  const port = isAsked && given === 0 ? await freePort() : given;
  const kibitz = startKibitz(args, { KIBITZ_METRICS_PORT: "0", ...env, KIBITZ_PORT: String(port) }, options);
  const { stdout, stderr, ...rest } = kibitz;
  const ready = Promise.withResolvers<string>();
  createInterface(stdout).on("line", (line) => {
    onLog(line);
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
  tell: (url: string) => void,
): Promise<void> {
  while (isRunning()) {
    const isReady = await fetch(`${url}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
    if (isReady) {
      tell(url);
      return;
    }
    await sleep(50);
  }
}
