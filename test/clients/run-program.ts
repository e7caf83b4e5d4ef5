import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";

interface Place {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly onLine?: (line: string) => void;
}

/** Runs a program and returns its output. If the program fails, throws an error that contains the output. */
export async function runProgram(
  command: readonly string[],
  { cwd, env, onLine }: Place = {},
): Promise<string> {
  const [file = "", ...args] = command;
  const child = spawn(file, args, {
    ...(cwd !== undefined && { cwd }),
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  if (onLine) {
    createInterface(child.stdout).on("line", onLine);
  }
  const [stdout, stderr, [code, signal]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "exit"),
  ]);
  if (code !== 0) {
    throw new Error(`${command.join(" ")} ended with ${code ?? signal}\n${stdout}${stderr}`);
  }
  return stdout;
}
