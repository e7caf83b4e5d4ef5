import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Program } from "./language.ts";

export interface Command {
  readonly method: "Evaluate" | "FindBestMove" | "StreamEvaluate" | "GetPrice" | "GetKey" | "CreateKey";
  /** The request in ProtoJSON. */
  readonly request: Readonly<Record<string, unknown>>;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly deadline_ms?: number;
  readonly cancel_after_ms?: number;
  readonly cancel_after_messages?: number;
  readonly compress?: boolean;
}

export interface Result {
  /** The name of the gRPC code, such as `OK` or `INVALID_ARGUMENT`. */
  readonly code: string;
  readonly message: string;
  readonly details: readonly { readonly type: string; readonly value: ProtoJson }[];
  readonly headers: Readonly<Record<string, string>>;
  readonly trailers: Readonly<Record<string, string>>;
  readonly messages: readonly ProtoJson[];
  readonly elapsed_ms: number;
  /** Null if the client library does not report the encoding. */
  readonly response_encoding: string | null;
}

// biome-ignore lint/suspicious/noExplicitAny: made by seven libraries, and compared as a whole
export type ProtoJson = Readonly<Record<string, any>>;

export interface Probe {
  ask(command: Command): Promise<Result>;
  close(): Promise<void>;
}

/**
 * Returns headers with a new caller address. The service trusts the test as a proxy, and treats each address as a different
 * caller.
 */
export const newCaller = () => ({ "x-forwarded-for": `198.18.${callers >> 8}.${callers++ & 255}` });
let callers = 0;

/** Starts a probe. Its stderr is the stderr of this process. */
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
