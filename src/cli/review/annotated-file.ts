import { type FileHandle, open, realpath } from "node:fs/promises";
import { KibitzError } from "../../errors/errors.ts";
import type { Game } from "../../game/game.ts";
import type { PgnSource } from "../../game/pgn-error.ts";
import { UsageError } from "../command.ts";
import { whyNotOpened } from "../why-not-opened.ts";
import { type GamesFile, readGame, readGamesOf } from "./read-games.ts";

/** The file of annotated games. An earlier run may have written its first games. */
export interface AnnotatedFile extends AsyncDisposable {
  /** True if an earlier run wrote this game, after the same games. Throws UsageError if the file has another game here. */
  has(game: Game): Promise<boolean>;
  /** Resolves when the game is in the file, so that a later failure does not lose it. */
  write(pgn: string): Promise<void>;
}

/** @throws UsageError if the file cannot be written, or is one of the files to review */
export async function openAnnotatedFile(
  path: string,
  sources: readonly GamesFile[],
  signal: AbortSignal,
): Promise<AnnotatedFile> {
  const paths = await Promise.all(sources.map((source) => source.path && realpath(source.path)));
  // If the file does not exist yet, it is not one of the files to review.
  const target = await realpath(path).catch(() => undefined);
  if (target !== undefined && paths.includes(target)) {
    throw new UsageError(`--output ${path} is one of the files to review: name another one`);
  }
  const file = await open(path, "a+").catch((error: Error) => {
    throw new UsageError(`cannot write ${path}: ${whyNotOpened(error)}`);
  });
  // Only a file can have games of an earlier run, and not a pipe or a device.
  const isKept = (await file.stat()).isFile();
  return createAnnotatedFile(path, file, isKept, signal);
}

function createAnnotatedFile(
  path: string,
  file: FileHandle,
  isKept: boolean,
  signal: AbortSignal,
): AnnotatedFile {
  const there = readGamesOf(
    file.createReadStream({ start: 0, autoClose: false, encoding: "utf8" }),
    path,
    signal,
  );
  /** The number of bytes that were read; `kept` counts those of whole games. */
  let read = 0;
  let kept = 0;
  /** True if all games of the earlier run have been read. */
  let isBehind = !isKept;

  /** Ends reading, and cuts off an unfinished game at the end of the file. */
  async function endReading(): Promise<void> {
    isBehind = true;
    await there.return();
    const { size } = await file.stat();
    if (size > kept) {
      await file.truncate(kept);
    }
  }

  /** True if a game is the last of the file and lacks the result with which whole games end. */
  async function isCut({ text }: PgnSource): Promise<boolean> {
    const { size } = await file.stat();
    return read + Buffer.byteLength(text) >= size && !wholeGame.test(text);
  }

  return {
    async has(game) {
      if (isBehind) {
        return false;
      }
      const { value: source } = await there.next();
      // A killed run truncates its last game: cut that off, unless it is the first, because the file may not come from Kibitz.
      if (!source || (kept > 0 && (await isCut(source)))) {
        await endReading();
        return false;
      }
      if (!isSame(source, game)) {
        throw new UsageError(
          `--output ${path} already exists and holds other games: name another file, or delete it first`,
        );
      }
      kept = read + Buffer.byteLength(source.text.trimEnd()) + 1;
      read += Buffer.byteLength(source.text);
      return true;
    },
    async write(pgn) {
      // Add a tag if there is none, because nothing else would separate this game from the one before.
      const headed = pgn.startsWith("[") ? pgn : `[Event "?"]\n\n${pgn}`;
      const text = kept > 0 ? `\n${headed}` : headed;
      // Use `appendFile`, because `write` may write only a part of the text.
      await file.appendFile(text);
      kept += Buffer.byteLength(text);
    },
    async [Symbol.asyncDispose]() {
      await there.return();
      await file.close();
    },
  };
}

const wholeGame = /(1-0|0-1|1\/2-1\/2|\*)\n\s*$/;

/** True if two games have the same players and moves, which annotating does not change. */
function isSame(source: PgnSource, game: Game): boolean {
  try {
    return identityOf(readGame({ text: source.text }).game) === identityOf(game);
  } catch (thrown) {
    if (thrown instanceof KibitzError) {
      return false;
    }
    throw thrown;
  }
}

function identityOf({ tags, positions, moves }: Game): string {
  const players = ["White", "Black", "Event", "Date", "Round"].map((name) => {
    const value = tags.get(name) ?? "?";
    // PGN has several ways to write "unknown".
    return /^[?.]*$/.test(value) ? "?" : value;
  });
  return JSON.stringify([players, positions[0]?.fen, moves.map(({ uci }) => uci)]);
}
