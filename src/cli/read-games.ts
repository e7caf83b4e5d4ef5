import { createReadStream } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { addAbortSignal, type Readable } from "node:stream";
import type { PgnSource } from "../game/pgn-error.ts";
import { splitGames } from "../game/split-games.ts";
import { UsageError } from "./command.ts";
import type { Host } from "./host.ts";

/** A file of games, or standard input. */
export interface GamesFile {
  /** For messages. */
  readonly name: string;
  /** Undefined for standard input. */
  readonly path: string | undefined;
}

/**
 * The files that a command names: standard input for `-`, those that end in `.pgn` for a folder, by name.
 *
 * @throws UsageError for what is not there
 */
export async function filesFromNames(names: readonly string[]): Promise<readonly GamesFile[]> {
  const files: GamesFile[] = [];
  for (const name of names) {
    if (name === "-") {
      files.push({ name: "standard input", path: undefined });
      continue;
    }
    try {
      const paths = (await stat(name)).isDirectory() ? await filesIn(name) : [name];
      files.push(...paths.map((path) => ({ name: path, path })));
    } catch (thrown) {
      throw unreadable(name, thrown);
    }
  }
  return files;
}

async function filesIn(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  const names = entries.filter((entry) => !entry.isDirectory() && /\.pgn$/i.test(entry.name));
  if (names.length === 0) {
    throw new UsageError(`the folder ${folder} has no files that end in .pgn`);
  }
  return names.map(({ name }) => join(folder, name)).toSorted();
}

/** The games of a file, one after another; no more of it is in memory than the game that is read. */
export function readGames(
  { name, path }: GamesFile,
  { stdin }: Host,
  signal: AbortSignal,
): AsyncGenerator<PgnSource, void> {
  const stream = path === undefined ? stdin : createReadStream(path);
  return splitGames(textOf(addAbortSignal(signal, stream), name, signal));
}

async function* textOf(stream: Readable, name: string, signal: AbortSignal): AsyncGenerator<string, void> {
  // With its mark of the byte order: places in the file count from its first character.
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  try {
    for await (const chunk of stream) {
      yield typeof chunk === "string" ? chunk : decoder.decode(chunk, { stream: true });
    }
  } catch (thrown) {
    signal.throwIfAborted();
    throw unreadable(name, thrown);
  }
  yield decoder.decode();
}

function unreadable(name: string, thrown: unknown): unknown {
  return thrown instanceof UsageError || !(thrown instanceof Error)
    ? thrown
    : new UsageError(`cannot read ${name}: ${thrown.message}`);
}
