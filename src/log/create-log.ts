import { write, writeSync } from "node:fs";
import type { LevelWithSilent, Logger, LoggerOptions } from "pino";
import pino from "pino";
import { withoutControls } from "../text/plain-text.ts";
import { type Log, type LogFields, logFields } from "./log.ts";

/** JSON lines for programs; on a terminal, lines for people. */
export async function createLog(
  level: LevelWithSilent,
  stream: { readonly fd: number; readonly isTTY?: boolean } = process.stdout,
  host: { once(event: "exit", listener: () => void): unknown } = process,
): Promise<Log> {
  const options = {
    level,
    base: null,
    timestamp: createIsoTime(),
    formatters: { log: listed },
    serializers: { err: described },
  };
  if (!stream.isTTY) {
    // Not in step: whoever reads the log slowly must not slow the answers.
    const onLost = (count: number) =>
      lines.warn({ count }, "log lines were lost: there was no room for them");
    const writer = createLineWriter(stream.fd, { onLost });
    host.once("exit", writer.flushNow);
    const lines: Log = writtenAtOnce(pino(options, writer));
    return lines;
  }
  // Loaded where somebody looks: a server in a container has no use for it.
  const { default: pretty } = await import("pino-pretty");
  const hooks: LoggerOptions["hooks"] = {
    logMethod(line, write) {
      const [fields, message] = line as unknown as Parameters<Log["info"]>;
      write.apply(this, message === "call" ? [{ err: fields.err }, withoutControls(callText(fields))] : line);
    },
  };
  const lines = pretty({ destination: stream.fd, sync: true, colorize: true, singleLine: true });
  const log: Log = pino({ ...options, hooks }, lines);
  return log;
}

/** A call for people, in the width of a terminal: `Evaluate (json): ok, 593 ms, stockfish-19 depth 14`. */
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

/**
 * pino (10.4) writes each name and each value of a line by a `JSON.stringify` of its own; one for the whole line writes the
 * same, and spares a twenty-fifth of a cached answer. By the symbol that pino shows for this.
 */
function writtenAtOnce(log: Logger): Logger {
  const beginnings = new Map(
    Object.keys(log.levels.labels).map((level) => [Number(level), `{"level":${level}`]),
  );
  return Object.assign(log, {
    [pino.symbols.asJsonSym](fields: LogFields, message: string, level: number, time: string): string {
      const { err } = fields;
      const said = JSON.stringify(listed(err === undefined ? fields : { ...fields, err: described(err) }));
      const rest = said === "{}" ? "" : `,${said.slice(1, -1)}`;
      return `${beginnings.get(level)}${time}${rest},"msg":${JSON.stringify(message)}}\n`;
    },
  });
}

/** pino's `isoTime`, which writes the same millisecond once: to write it takes as long as the rest of a line. */
function createIsoTime(): () => string {
  let writtenFor = Number.NaN;
  let written = "";
  return () => {
    const now = Math.floor(performance.now());
    if (now !== writtenFor) {
      writtenFor = now;
      written = pino.stdTimeFunctions.isoTime();
    }
    return written;
  };
}

/** What somebody hands over against the types does not get further than this. */
function listed(fields: object): Record<string, unknown> {
  for (const name in fields) {
    if (!logFields.has(name)) {
      return Object.fromEntries(Object.entries(fields).filter(([each]) => logFields.has(each)));
    }
  }
  return fields as Record<string, unknown>;
}

/** A failure without what else libraries hang on to it: headers, metadata, requests. */
function described(thrown: unknown): unknown {
  if (!(thrown instanceof Error)) {
    return String(thrown);
  }
  const { name, message, stack, cause } = thrown;
  return { type: name, message, stack, ...(cause !== undefined && { cause: described(cause) }) };
}

/** Writes lines to a file, pipe or terminal, a moment after they come and together. Never throws, and nobody waits for it. */
export interface LineWriter {
  write(line: string): void;
  /** Writes what waits, before the process ends. What cannot be written is lost. */
  flushNow(): void;
}

export interface LineWriterOptions {
  /** Lines that wait so long, in milliseconds, travel in one write: each costs as much as half an answer from the cache. */
  readonly togetherMs?: number;
  /** How long until it is tried again where nothing could be written. */
  readonly retryMs?: number;
  /** Most that waits, in characters. A reader who is slow, or a disk that is full, costs lines and not the memory. */
  readonly charsMax?: number;
  /** Told how many lines were lost, when there is room again: what it writes comes next. */
  readonly onLost?: (lines: number) => void;
}

/**
 * By hand: sonic-boom (4.2) throws the error of a full disk where nobody catches it, and then waits at the end of the
 * process for room that does not come, with the port open and nobody answered.
 */
export function createLineWriter(fd: number, options: LineWriterOptions = {}): LineWriter {
  const { togetherMs = 20, retryMs = 200, charsMax = 4_000_000, onLost } = options;
  let waiting = "";
  /** Lines that there was no room for. */
  let lost = 0;
  /** What is left of the lines that are being written, or are to be tried again. */
  let current: Buffer = Buffer.alloc(0);
  let writing = false;
  let timer: NodeJS.Timeout | undefined;
  let over = false;

  function soon(ms: number): void {
    if (!writing && !over && timer === undefined) {
      // The end of the process does not wait for it: `flushNow` is for that.
      timer = setTimeout(writeCurrent, ms).unref();
    }
  }

  function writeCurrent(): void {
    timer = undefined;
    writing = true;
    if (current.length === 0) {
      current = Buffer.from(waiting);
      waiting = "";
      tellLost();
    }
    write(fd, current, (error, written) => {
      writing = false;
      // Whoever read the lines is gone.
      over = error?.code === "EPIPE";
      current = current.subarray(error ? 0 : written);
      if (current.length > 0 || waiting !== "") {
        soon(error ? retryMs : 0);
      }
    });
  }

  function tellLost(): void {
    const lines = lost;
    lost = 0;
    if (lines > 0) {
      onLost?.(lines);
    }
  }

  return {
    write(line) {
      if (waiting.length >= charsMax) {
        lost++;
        return;
      }
      waiting += line;
      soon(togetherMs);
    },
    flushNow() {
      // What is on its way arrives, or does not: it must not come twice.
      const rest = Buffer.concat([writing ? Buffer.alloc(0) : current, Buffer.from(waiting)]);
      waiting = "";
      if (!over) {
        writePatiently(fd, rest);
      }
    },
  };
}

/** How often a reader may say that it is not ready, and how long it is waited for each time, in milliseconds. */
const notReadyMax = 100;
const notReadyMs = 10;

function writePatiently(fd: number, bytes: Buffer): void {
  let rest = bytes;
  for (let notReady = 0; rest.length > 0 && notReady < notReadyMax; ) {
    try {
      rest = rest.subarray(writeSync(fd, rest));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") {
        // A full disk: the process ends all the same.
        return;
      }
      notReady++;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, notReadyMs);
    }
  }
}
