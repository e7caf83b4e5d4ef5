import pino, { type LevelWithSilent } from "pino";
import { createLineWriter } from "./line-writer.ts";
import { type Log, logFields } from "./log.ts";

/** JSON lines for programs; on a terminal, lines for people. */
export async function createLog(
  level: LevelWithSilent,
  stream: { readonly fd: number; readonly isTTY?: boolean } = process.stdout,
  host: { once(event: "exit", listener: () => void): unknown } = process,
): Promise<Log> {
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { log: listed },
    serializers: { err: described },
  };
  if (!stream.isTTY) {
    // Not in step: whoever reads the log slowly must not slow the answers.
    const onLost = (count: number) =>
      lines.warn({ count }, "log lines were lost: there was no room for them");
    const writer = createLineWriter(stream.fd, { onLost });
    host.once("exit", writer.flushNow);
    const lines: Log = pino(options, writer);
    return lines;
  }
  // Loaded where somebody looks: a server in a container has no use for it.
  const { default: pretty } = await import("pino-pretty");
  const log: Log = pino(options, pretty({ destination: stream.fd, sync: true, colorize: true }));
  return log;
}

/** What somebody hands over against the types does not get further than this. */
function listed(fields: Record<string, unknown>): Record<string, unknown> {
  for (const name in fields) {
    if (!logFields.has(name)) {
      return Object.fromEntries(Object.entries(fields).filter(([each]) => logFields.has(each)));
    }
  }
  return fields;
}

/** A failure without what else libraries hang on to it: headers, metadata, requests. */
function described(thrown: unknown): unknown {
  if (!(thrown instanceof Error)) {
    return String(thrown);
  }
  const { name, message, stack, cause } = thrown;
  return { type: name, message, stack, ...(cause !== undefined && { cause: described(cause) }) };
}
