import type { LevelWithSilent, LoggerOptions } from "pino";
import pino from "pino";
import sonic from "sonic-boom";
import { outsideRequests } from "../request/owner.ts";
import { withoutControls, withoutControlsInLines } from "../text/controls.ts";
import { after, type Timer } from "../time/time.ts";
import { type Log, type LogFields, logFields, type ProcessLog } from "./log.ts";

interface Host {
  once(event: "exit", listener: () => void): unknown;
}

export async function createLog(
  level: LevelWithSilent,
  stream: { readonly fd: number; readonly isTTY?: boolean } = process.stdout,
  host: Host = process,
): Promise<ProcessLog> {
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { log: knownFields },
    serializers: { err: knownProperties },
  };
  return stream.isTTY ? logToTerminal(stream.fd, options) : logToFile(stream.fd, options, host);
}

/** The maximum number of bytes in the buffer while the reader is slow or the disk is full. Further log lines are dropped. */
const waitingMaxBytes = 4_000_000;
/** The maximum number of retries while the pipe is full. The log waits 100 ms before each retry. */
const retriesMax = 10;
/** Milliseconds before a retry after any other error, such as a full disk. */
const retryMs = 1000;

function logToFile(fd: number, options: LoggerOptions, host: Host): ProcessLog {
  let lost = 0;
  let retries = 0;
  let timer: Timer | undefined;
  // `pino.destination` uses an older sonic-boom. With a full disk, that version keeps the process from ending.
  const file = new sonic.SonicBoom({
    fd,
    maxLength: waitingMaxBytes,
    retryEAGAIN: () => ++retries <= retriesMax,
  });
  // The file writes the lines of many requests together.
  const log: ProcessLog = pino(options, {
    write: (line) => outsideRequests(() => file.write(withoutControlsInLines(line))),
  });
  file.on("write", () => {
    retries = 0;
  });
  file.on("error", () => {
    if (timer === undefined) {
      timer = after(retryMs, () => {
        timer = undefined;
        file.flush();
      }).unref();
    }
  });
  file.on("drop", () => {
    lost++;
  });
  file.on("drain", () => {
    if (lost > 0) {
      log.warn({ count: lost }, "log lines were lost: there was no room for them");
      lost = 0;
    }
  });
  host.once("exit", () => {
    try {
      file.flushSync();
    } catch {
      // The process must end even if the disk is full or the pipe is closed.
    }
  });
  return log;
}

async function logToTerminal(fd: number, options: LoggerOptions): Promise<ProcessLog> {
  // Load this only for a terminal. A server in a container does not need it.
  const { default: pretty } = await import("pino-pretty");
  const hooks: LoggerOptions["hooks"] = {
    logMethod(line, write) {
      const [fields, message] = line as unknown as Parameters<Log["info"]>;
      const [shown, text] = message === "call" ? [{ err: fields.err }, callText(fields)] : [fields, message];
      write.apply(this, [shown, withoutControls(text)]);
    },
  };
  const lines = pretty({ destination: fd, sync: true, colorize: true, singleLine: true });
  return pino({ ...options, hooks }, { write: (line) => lines.write(withEscapedControls(line)) });
}

/** In a line of JSON, an escaped control character other than a line break or tab, or a format character such as U+202E. */
const escapedControls = /(?<!\\)((?:\\\\)*)\\(u(?:00[0189][\da-f]|007f|20[\da-f]{2})|[bfr])/gi;

/** Escapes control characters twice, because `pino-pretty` undoes one escape and would then write them to the terminal. */
function withEscapedControls(line: string): string {
  return withoutControlsInLines(line).replace(escapedControls, "$1\\\\$2");
}

/** Returns a text such as `Evaluate (json): ok, 593 ms, stockfish-19 depth 14`. */
function callText({
  protocol,
  method,
  request,
  code,
  limit,
  ms,
  engine,
  depth,
  cached,
  requestId,
}: LogFields) {
  const details = [
    `${code}${limit === undefined ? "" : ` (${limit})`}`,
    `${ms} ms`,
    ...(engine === undefined ? [] : [`${engine}${depth === undefined ? "" : ` depth ${depth}`}`]),
    ...(cached ? ["cached"] : []),
    ...(code === "internal" ? [`request ${requestId}`] : []),
  ];
  return `${method} ${request ?? `(${protocol})`}: ${details.join(", ")}`;
}

function knownFields(fields: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => logFields.has(name)));
}

/** Copies the known properties of an error. Other properties, such as headers and requests, must not be logged. */
function knownProperties(thrown: unknown): unknown {
  if (!(thrown instanceof Error)) {
    return String(thrown);
  }
  const { name, message, stack, cause } = thrown;
  return { type: name, message, stack, ...(cause !== undefined && { cause: knownProperties(cause) }) };
}
