import { EventEmitter } from "node:events";
import { closeSync, mkdtempDisposableSync, openSync, readFileSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import type { Host, Output } from "../../src/cli/host.ts";
import { run } from "../../src/cli/run.ts";
import { quickestSettings } from "../support/quickest-settings.ts";
import { type KibitzOptions, startKibitz } from "../support/start-kibitz.ts";

export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export type Settings = Readonly<Record<string, string>>;

const settingsIn = (folder: string) => ({ ...quickestSettings, KIBITZ_DATA_DIR: join(folder, "data") });
const temporaryFolder = () => mkdtempDisposableSync(join(tmpdir(), "kibitz-test-"));

/** Runs a command in this process. {@link spawnKibitz} would take ten times as long. */
export async function runKibitz(
  args: readonly string[],
  env: Settings = {},
  stdin: readonly string[] = [],
): Promise<Finished> {
  using folder = temporaryFolder();
  using stdout = createFile(join(folder.path, "stdout"));
  using stderr = createFile(join(folder.path, "stderr"));
  const events = new EventEmitter();
  const host: Host = Object.assign(events, {
    env: { ...settingsIn(folder.path), ...env },
    stdin: Readable.from(stdin),
    stdout,
    stderr,
    exit(code: number) {
      throw new Error(`ended with ${code} before its time`);
    },
  });
  const code = await run(args, host);
  const left = events.eventNames().filter((name) => name !== "exit");
  if (left.length > 0) {
    throw new Error(`still listens to ${left.join()}`);
  }
  // The log writes its buffer when the process exits.
  events.emit("exit");
  return { code, stdout: stdout.read(), stderr: stderr.read() };
}

export async function spawnKibitz(
  args: readonly string[],
  env: Settings = {},
  options: KibitzOptions = {},
): Promise<Finished> {
  using folder = temporaryFolder();
  const kibitz = startKibitz(args, { ...settingsIn(folder.path), ...env }, options);
  const [stdout, stderr, code] = await Promise.all([text(kibitz.stdout), text(kibitz.stderr), kibitz.ended]);
  return { code, stdout, stderr };
}

/** Creates a file for both standard output and the log. */
function createFile(path: string): Output & Disposable & { read(): string } {
  const fd = openSync(path, "w");
  return {
    fd,
    write: (printed) => writeSync(fd, printed),
    once: () => {},
    read: () => readFileSync(path, "utf8"),
    [Symbol.dispose]: () => closeSync(fd),
  };
}
