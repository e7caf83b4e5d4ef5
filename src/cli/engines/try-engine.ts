import { execFile } from "node:child_process";
import { open } from "node:fs/promises";
import { promisify } from "node:util";
import type { NativeSearch } from "../../engine/backends/native/find-executables.ts";
import { createNativeBackend } from "../../engine/backends/native/index.ts";
import type { EngineBuild } from "../../engine/engine.ts";
import type { Sandbox } from "../../engine/sandbox/sandbox.ts";
import { silentLog } from "../../log/log.ts";
import { withoutControls } from "../../text/controls.ts";

/** Runs an engine in its sandbox, as the service does. Throws Error if the engine does not pass its self-test. */
export async function tryEngine(
  file: string,
  hashMb: number,
  sandbox: Sandbox,
  signal: AbortSignal,
): Promise<EngineBuild> {
  const reasons: unknown[] = [];
  const [build] = await buildsIn({ files: [file], searchPath: "" }, hashMb, sandbox, signal, (error) =>
    reasons.push(error),
  );
  if (build === undefined) {
    const said = await complaintOf(file, hashMb, sandbox, signal);
    const texts = [...reasons.map(messageOf), said].filter(Boolean);
    throw new Error(withoutControls(texts.join("; ")));
  }
  return build;
}

export function buildsIn(
  where: NativeSearch,
  hashMb: number,
  sandbox: Sandbox,
  signal: AbortSignal,
  onLeftOut: (error: unknown) => void = () => {},
): Promise<readonly EngineBuild[]> {
  const log = { ...silentLog, warn: ({ error }: { readonly error?: unknown }) => onLeftOut(error) };
  return createNativeBackend({ hashMb, threads: 1 }, where, sandbox, log).discover(signal);
}

/** The log has errors as texts that begin with the class of the error. */
function messageOf(error: unknown): string {
  return String(error).replace(/^\w*(Error|Failure): /, "");
}

const complaintMaxMs = 5000;

/** Returns why the system does not run a program, as far as the system says it. */
async function complaintOf(
  path: string,
  hashMb: number,
  sandbox: Sandbox,
  signal: AbortSignal,
): Promise<string> {
  const machine = process.platform === "linux" ? await machineOf(path) : process.arch;
  if (machine !== process.arch) {
    return machine === undefined
      ? "it is not a program for Linux"
      : `it is built for ${machine}, and this machine is ${process.arch}`;
  }
  const { file, args, runAs } = sandbox.wrap({ file: path, args: [] }, { hashMb, threads: 1 });
  // SIGKILL, because a program may ignore other signals.
  const limits = { timeout: complaintMaxMs, killSignal: "SIGKILL", signal } as const;
  const options = { env: {}, uid: runAs?.uid, gid: runAs?.gid, ...limits };
  try {
    const running = promisify(execFile)(file, [...args], options);
    running.child.stdin?.on("error", () => {}).end();
    await running;
    return "";
  } catch (error) {
    signal.throwIfAborted();
    const { stderr = "", signal: killedBy } = error as { stderr?: string; signal?: string | null };
    return stderr.trim().split("\n").at(-1)?.slice(-300) || (killedBy ? `it was ended by ${killedBy}` : "");
  }
}

/** The numbers that ELF has for the architectures of Node. */
const elfMachines: Readonly<Record<number, string>> = {
  3: "ia32",
  40: "arm",
  62: "x64",
  183: "arm64",
  243: "riscv64",
};

/** Returns the architecture of a program for Linux, or undefined for any other file. A script runs on every machine. */
async function machineOf(path: string): Promise<string | undefined> {
  await using file = await open(path);
  const { buffer } = await file.read(Buffer.alloc(20), 0, 20, 0);
  const start = buffer.toString("latin1", 0, 4);
  if (start.startsWith("#!")) {
    return process.arch;
  }
  const number = buffer.readUInt16LE(18);
  return start === "\x7fELF" ? (elfMachines[number] ?? `another processor (${number})`) : undefined;
}
