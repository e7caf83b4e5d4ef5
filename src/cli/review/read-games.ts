import { createReadStream } from "node:fs";
import { readdir, realpath, stat } from "node:fs/promises";
import { join } from "node:path";
import { addAbortSignal, type Readable } from "node:stream";
import { inOneGo } from "../../chess/in-one-go.ts";
import { type Game, gameFromPgn } from "../../game/game.ts";
import { inEnglish } from "../../game/other-letters.ts";
import type { PgnSource } from "../../game/pgn-error.ts";
import { readPgn } from "../../game/read-pgn.ts";
import { splitGames } from "../../game/split-games.ts";
import { UsageError } from "../command.ts";
import type { Host } from "../host.ts";
import { textOfBytes } from "../text-of-bytes.ts";
import { whyNotOpened } from "../why-not-opened.ts";

export interface GamesFile {
  readonly name: string;
  /** Undefined for standard input. */
  readonly path: string | undefined;
}

/** A folder means its files `.pgn`, `.pgn.gz` and `.pgn.zst`, except `output`. Throws UsageError if a file does not exist. */
export async function filesFromNames(
  names: readonly string[],
  output?: string,
): Promise<readonly GamesFile[]> {
  const left = output === undefined ? undefined : await realpath(output).catch(() => undefined);
  const files: GamesFile[] = [];
  for (const name of names) {
    if (name === "-") {
      files.push({ name: "standard input", path: undefined });
      continue;
    }
    try {
      const paths = (await stat(name)).isDirectory() ? await filesIn(name, left) : [name];
      files.push(...paths.map((path) => ({ name: path, path })));
    } catch (thrown) {
      throw unreadable(name, thrown);
    }
  }
  return files;
}

async function filesIn(folder: string, left: string | undefined): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  const names = entries.filter((entry) => !entry.isDirectory() && /\.pgn(\.gz|\.zst)?$/i.test(entry.name));
  const paths = names.map(({ name }) => join(folder, name)).toSorted();
  const real = await Promise.all(paths.map((path) => realpath(path).catch(() => path)));
  const games = paths.filter((_, index) => real[index] !== left);
  if (games.length === 0) {
    throw new UsageError(`the folder ${folder} has no files that end in .pgn`);
  }
  return games;
}

/** Never holds more than one game in memory. */
export function readGames(
  { name, path }: GamesFile,
  { stdin }: Host,
  signal: AbortSignal,
): AsyncGenerator<PgnSource, void> {
  return readGamesOf(path === undefined ? stdin : createReadStream(path), name, signal);
}

export function readGamesOf(
  stream: Readable,
  name: string,
  signal: AbortSignal,
): AsyncGenerator<PgnSource, void> {
  return splitGames(textOf(addAbortSignal(signal, stream), name, signal));
}

/** Translates piece letters of other languages in `text`. Throws KibitzError with the line and column of the error. */
export function readGame(source: PgnSource): { readonly game: Game; readonly text: string } {
  try {
    return { game: gameOf(source), text: source.text };
  } catch (thrown) {
    const english = inOneGo(inEnglish(thrown, source));
    if (english === undefined) {
      throw thrown;
    }
    const game = gameOf(english.source);
    return { game: { ...game, warnings: [english.warning, ...game.warnings] }, text: english.source.text };
  }
}

function gameOf(source: PgnSource): Game {
  return inOneGo(gameFromPgn(inOneGo(readPgn(source))));
}

async function* textOf(stream: Readable, name: string, signal: AbortSignal): AsyncGenerator<string, void> {
  try {
    let begin = "";
    let mayBeJson = true;
    for await (const part of textOfBytes(stream)) {
      if (mayBeJson) {
        begin = `${begin}${part}`.trimStart();
        // In PGN, braces are comments, so a file of JSON would have no games.
        if (/^\[?\s*\{\s*"[^"]*"\s*:/.test(begin)) {
          throw new UsageError(`${name} is JSON, and not PGN: write the games as PGN`);
        }
        // The first lines of a file can arrive in several parts.
        mayBeJson = /^\[?\s{0,99}\{?\s{0,99}$/.test(begin);
      }
      yield part;
    }
  } catch (thrown) {
    signal.throwIfAborted();
    throw unreadable(name, thrown);
  }
}

function unreadable(name: string, thrown: unknown): unknown {
  return thrown instanceof UsageError || !(thrown instanceof Error)
    ? thrown
    : new UnreadableFile(`cannot read ${name}: ${whyNotOpened(thrown)}`);
}

export class UnreadableFile extends UsageError {}
