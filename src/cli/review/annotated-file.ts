import { type FileHandle, open, realpath } from "node:fs/promises";
import { KibitzError } from "../../errors/errors.ts";
import type { Game } from "../../game/game.ts";
import type { PgnSource } from "../../game/pgn-error.ts";
import { UsageError } from "../command.ts";
import { whyNotOpened } from "../why-not-opened.ts";
import { type GamesFile, readGame, readGamesOf } from "./read-games.ts";

/** Where annotated games are written, one after another. It may have been begun by a run before. */
export interface AnnotatedFile extends AsyncDisposable {
  /**
   * Whether the game is there from a run before, which had the same games up to it.
   *
   * @throws UsageError where there is another game in its place
   */
  has(game: Game): Promise<boolean>;
  /** Behind what is there. Resolves when it is in the file, where it stays whatever happens to the next game. */
  write(pgn: string): Promise<void>;
}

/** @throws UsageError where it cannot be written, or is one of the files that are to be read */
export async function openAnnotatedFile(
  path: string,
  sources: readonly GamesFile[],
  signal: AbortSignal,
): Promise<AnnotatedFile> {
  const paths = await Promise.all(sources.map((source) => source.path && realpath(source.path)));
  // A file that is not there yet has no path of its own: then it is none of the others.
  const target = await realpath(path).catch(() => undefined);
  if (target !== undefined && paths.includes(target)) {
    throw new UsageError(`--output ${path} is one of the files to review: name another one`);
  }
  // For reading and writing, and made where it is not there.
  const file = await open(path, "a+").catch((error: Error) => {
    throw new UsageError(`cannot write ${path}: ${whyNotOpened(error)}`);
  });
  // A pipe or a device has nothing from before.
  const isKept = (await file.stat()).isFile();
  return createAnnotatedFile(path, file, isKept, signal);
}

function createAnnotatedFile(
  path: string,
  file: FileHandle,
  isKept: boolean,
  signal: AbortSignal,
): AnnotatedFile {
  const there = readGamesOf(file.createReadStream({ start: 0, autoClose: false }), path, signal);
  /** Bytes of what was read, and of what of that is kept. */
  let read = 0;
  let kept = 0;
  /** Whether what was there has been read. */
  let isBehind = !isKept;

  /** What was begun and not finished goes. */
  async function endReading(): Promise<void> {
    isBehind = true;
    await there.return();
    const { size } = await file.stat();
    if (size > kept) {
      await file.truncate(kept);
    }
  }

  /** Whether it is the last one, without the result that all of ours end with. */
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
      // Whoever is killed while writing leaves a game without its end; but behind none of ours, it is no game of ours either.
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
      // Where it has no tags, nobody could tell where it begins.
      const headed = pgn.startsWith("[") ? pgn : `[Event "?"]\n\n${pgn}`;
      const text = kept > 0 ? `\n${headed}` : headed;
      // Not by `write`, which may leave the end of it out.
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

/** By the players and the moves, which annotating leaves as they are. */
function isSame(source: PgnSource, game: Game): boolean {
  try {
    return identityOf(readGame({ text: source.text })) === identityOf(game);
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
    // What is not known is written in more ways than one.
    return /^[?.]*$/.test(value) ? "?" : value;
  });
  return JSON.stringify([players, positions[0]?.fen, moves.map(({ uci }) => uci)]);
}
