import type { WriteStream } from "node:tty";
import pino from "pino";
import type { Config } from "./config.ts";
import type { Log } from "./log.ts";

/** JSON lines for programs; on a terminal, lines for people. */
export async function createLog(
  level: Config["logLevel"],
  stream: WriteStream & { readonly fd: number } = process.stdout,
): Promise<Log> {
  const options = { level, base: null, timestamp: pino.stdTimeFunctions.isoTime };
  if (!stream.isTTY) {
    const lines: Log = pino(options, writeTogether(stream.fd));
    return lines;
  }
  // Loaded where somebody looks: a server in a container has no use for it.
  const { default: pretty } = await import("pino-pretty");
  const log: Log = pino(options, pretty({ destination: stream.fd, sync: true, colorize: true }));
  return log;
}

/** Lines that wait so long, in milliseconds, travel in one write: each costs as much as half an answer from the cache. */
const togetherMs = 20;

function writeTogether(fd: number): { write(line: string): void } {
  // Not in step: whoever reads the log slowly must not slow the answers.
  const destination = pino.destination({ fd, sync: false });
  let waiting = "";
  // Not by its own `minLength`: it measures all that waits again with every line (sonic-boom 4.2).
  const flush = () => {
    const lines = waiting;
    waiting = "";
    destination.write(lines);
  };
  process.once("exit", () => {
    if (waiting !== "") {
      flush();
    }
    destination.flushSync();
  });
  return {
    write(line) {
      if (waiting === "") {
        setTimeout(flush, togetherMs);
      }
      waiting += line;
    },
  };
}
