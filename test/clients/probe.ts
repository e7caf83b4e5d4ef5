import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Program } from "./language.ts";

/** A call that a probe makes. */
export interface Command {
  readonly method: "Evaluate" | "FindBestMove" | "StreamEvaluate" | "GetPrice" | "GetKey" | "CreateKey";
  /** ProtoJSON. */
  readonly request: Readonly<Record<string, unknown>>;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly deadline_ms?: number;
  readonly cancel_after_ms?: number;
  /** For streams. */
  readonly cancel_after_messages?: number;
  /** True to send the request compressed with gzip. */
  readonly compress?: boolean;
}

/** The result of a call as a client library reports it. */
export interface Result {
  /** The gRPC code by name: `OK`, `INVALID_ARGUMENT`. */
  readonly code: string;
  readonly message: string;
  readonly details: readonly { readonly type: string; readonly value: ProtoJson }[];
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly trailers: Readonly<Record<string, string>>;
  readonly messages: readonly ProtoJson[];
  readonly elapsed_ms: number;
  /** Null where the library does not tell. */
  readonly response_encoding: string | null;
}

// biome-ignore lint/suspicious/noExplicitAny: made by seven libraries, and compared as a whole
export type ProtoJson = Readonly<Record<string, any>>;

/** A program that makes calls as it is told, one at a time. */
export interface Probe {
  ask(command: Command): Promise<Result>;
  close(): Promise<void>;
}

/** The service tells callers apart by the address that a trusted proxy forwards for, so each of these is another one. */
export const newCaller = () => ({ "x-forwarded-for": `198.18.${callers >> 8}.${callers++ & 255}` });
let callers = 0;

/** Starts a probe of the service at a URL. Its complaints are this process's. */
export function openProbe({ name, command, cwd, env }: Program, url: string): Probe {
  const [file = "", ...args] = command;
  const child = spawn(file, [...args, url], {
    cwd,
    env: { ...process.env, ...env },
    stdio: ["pipe", "pipe", "inherit"],
  });
  const ended = once(child, "exit");
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  return {
    async ask(asked) {
      child.stdin.write(`${JSON.stringify(asked)}\n`);
      const { value, done } = await lines.next();
      if (done) {
        throw new Error(`${name} ended instead of answering ${JSON.stringify(asked)}`);
      }
      return JSON.parse(value) as Result;
    },
    async close() {
      child.stdin.end();
      await ended;
    },
  };
}
