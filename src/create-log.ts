import type { WriteStream } from "node:tty";
import pino from "pino";
import type { Config } from "./config.ts";
import { createLineWriter } from "./line-writer.ts";
import type { Log } from "./log.ts";

/** JSON lines for programs; on a terminal, lines for people. */
export async function createLog(
  level: Config["logLevel"],
  stream: WriteStream & { readonly fd: number } = process.stdout,
): Promise<Log> {
  const options = { level, base: null, timestamp: pino.stdTimeFunctions.isoTime };
  if (!stream.isTTY) {
    // Not in step: whoever reads the log slowly must not slow the answers.
    const writer = createLineWriter(stream.fd);
    process.once("exit", writer.flushNow);
    const lines: Log = pino(options, writer);
    return lines;
  }
  // Loaded where somebody looks: a server in a container has no use for it.
  const { default: pretty } = await import("pino-pretty");
  const log: Log = pino(options, pretty({ destination: stream.fd, sync: true, colorize: true }));
  return log;
}
