/** Writes results of benchmarks into `docs/measured.md`. */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { arch, availableParallelism, cpus, release, totalmem, type } from "node:os";

const page = new URL("../docs/measured.md", import.meta.url);

/** Replaces the text between `<!-- begin NAME -->` and `<!-- end NAME -->`. */
export function writeMeasured(name: string, text: string): void {
  writeFileSync(page, pageWith(readFileSync(page, "utf8"), name, text));
}

export function pageWith(current: string, name: string, text: string): string {
  const [begin, end] = [`<!-- begin ${name} -->\n`, `<!-- end ${name} -->`];
  const from = current.indexOf(begin);
  const to = current.indexOf(end);
  if (from < 0 || to < from) {
    throw new Error(`docs/measured.md has no block ${name}`);
  }
  return `${current.slice(0, from)}${begin}\n${text.trim()}\n\n${current.slice(to)}`;
}

/** Returns the date, commit, command and machine as the beginning of a sentence. */
export function describeRun(command: string): string {
  const dirty = printedBy("git", "status", "--porcelain", "--", "src", "proto") === "" ? "" : " and changes";
  const day = new Date().toISOString().slice(0, 10);
  const commit = `${printedBy("git", "rev-parse", "--short", "HEAD")}${dirty}`;
  const processor = `${cpus()[0]?.model.trim() ?? "unknown processor"}, ${availableParallelism()} cores`;
  const memory = `${Math.round(totalmem() / 2 ** 30)} GiB`;
  const system = `${type()} ${release()} ${arch()}, Node ${process.version}`;
  return `${day}, commit ${commit}, \`${command}\`. ${processor}, ${memory}, ${system}`;
}

/** Returns the output of a command, even if the command fails. Returns an empty text if the program is not installed. */
export function printedBy(file: string, ...args: readonly string[]): string {
  try {
    return execFileSync(file, args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
  } catch (error) {
    return error instanceof Error && "stdout" in error ? String(error.stdout).trim() : "";
  }
}
