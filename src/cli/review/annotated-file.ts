import { type FileHandle, open, realpath } from "node:fs/promises";
import { KibitzError } from "../../errors/errors.ts";
import type { Game } from "../../game/game.ts";
import type { PgnSource } from "../../game/pgn-error.ts";
import { UsageError } from "../command.ts";
import { whyNotOpened } from "../why-not-opened.ts";
import { type GamesFile, readGame, readGamesOf } from "./read-games.ts";

/** The output file. If a run was interrupted, the next run skips the games that are already in this file. */
export interface AnnotatedFile extends AsyncDisposable {
  /**
   * Call this once for each game, in order. Returns true if the file already contains the game. Throws UsageError if the file
   * contains another game instead.
   */
  has(game: Game): Promise<boolean>;
  write(pgn: string): Promise<void>;
}

/** Throws UsageError if the file cannot be written, or is one of the files to review. */
export async function openAnnotatedFile(
  path: string,
  sources: readonly GamesFile[],
  signal: AbortSignal,
): Promise<AnnotatedFile> {
  const paths = await Promise.all(sources.map((source) => source.path && realpath(source.path)));
  // Ignore the error: a file that does not exist cannot be one of the files to review.
  const target = await realpath(path).catch(() => undefined);
  if (target !== undefined && paths.includes(target)) {
    throw new UsageError(`--output ${path} is one of the files to review: name another one`);
  }
  const file = await open(path, "a+").catch((error: Error) => {
    throw new UsageError(`cannot write ${path}: ${whyNotOpened(error)}`);
  });
  // A pipe or a device cannot contain games of an earlier run.
  const mayHaveGames = (await file.stat()).isFile();
  return createAnnotatedFile(path, file, mayHaveGames, signal);
}

function createAnnotatedFile(
  path: string,
  file: FileHandle,
  mayHaveGames: boolean,
  signal: AbortSignal,
): AnnotatedFile {
  const earlierGames = readGamesOf(
    file.createReadStream({ start: 0, autoClose: false, encoding: "utf8" }),
    path,
    signal,
  );
  /** Sizes in bytes. `read`: the games that were read. `kept`: the games that remain in the file. */
  let read = 0;
  let kept = 0;
  let hasReadAll = !mayHaveGames;

  /** Stops reading, and removes an incomplete game from the end of the file. */
  async function endReading(): Promise<void> {
    hasReadAll = true;
    await earlierGames.return();
    const { size } = await file.stat();
    if (size > kept) {
      await file.truncate(kept);
    }
  }

  async function isIncomplete({ text }: PgnSource): Promise<boolean> {
    const { size } = await file.stat();
    return read + Buffer.byteLength(text) >= size && !completeGame.test(text);
  }

  return {
    async has(game) {
      if (hasReadAll) {
        return false;
      }
      const { value: source } = await earlierGames.next();
      // Remove an incomplete game of a killed run, but never the first game, because the file may not come from Kibitz.
      if (!source || (kept > 0 && (await isIncomplete(source)))) {
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
      // Add a tag to a game without tags, because tags mark the beginning of the next game.
      const headed = pgn.startsWith("[") ? pgn : `[Event "?"]\n\n${pgn}`;
      const text = kept > 0 ? `\n${headed}` : headed;
      // Use `appendFile`, because `write` may write only a part of the text.
      await file.appendFile(text);
      kept += Buffer.byteLength(text);
    },
    async [Symbol.asyncDispose]() {
      await earlierGames.return();
      await file.close();
    },
  };
}

const completeGame = /(1-0|0-1|1\/2-1\/2|\*)\n\s*$/;

/** Compares the tags and moves, which a review does not change. */
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
    // PGN has several texts for an unknown value.
    return /^[?.]*$/.test(value) ? "?" : value;
  });
  return JSON.stringify([players, positions[0]?.fen, moves.map(({ uci }) => uci)]);
}
