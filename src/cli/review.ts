import { open, realpath } from "node:fs/promises";
import { judgeRequest } from "../analysis/judge-request.ts";
import { requestFromMessage } from "../calls/convert.ts";
import { KibitzError } from "../errors/errors.ts";
import { readOpenings } from "../game/openings.ts";
import type { PgnSource } from "../game/pgn-error.ts";
import { type Command, type CommandInput, exitCode, UsageError } from "./command.ts";
import { jsonOfRefusal, jsonOfReview } from "./json-of-review.ts";
import { openLocal } from "./open-local.ts";
import { createProgressBar } from "./progress-bar.ts";
import { filesFromNames, type GamesFile, readGames } from "./read-games.ts";
import { reportOfReview } from "./report-of-review.ts";
import { readRequestOfMany, searchOptions } from "./request-from-input.ts";
import { type ReviewedGame, readGame, reviewGame } from "./review-game.ts";
import { complaintsOf, exitCodeOf, orTellError } from "./tell-error.ts";

const { depth, nodes, engine, path } = searchOptions;

export const reviewCommand: Command = {
  usage: "review <file>",
  about: "Review games in PGN: accuracy, mistakes, blunders and what was better.",
  options: {
    depth,
    nodes,
    engine,
    path,
    output: {
      type: "string",
      value: "<file>",
      about: "write the games to a file, too, with evaluations, glyphs, comments and best lines",
    },
    json: { type: "boolean", about: "print each game's review, or its problem, as one line of JSON" },
  },
  notes: [
    "Takes files, folders of .pgn files, and - for standard input; each may have many games.",
    "A game that cannot be read is told with its place, and left out of --output; the others are reviewed.",
    "Accuracy and judgements are by the formulas of Lichess; evaluations are from White's point of view.",
  ],
  run: (input) => orTellError(input, () => review(input)),
};

async function review(input: CommandInput): Promise<number> {
  const { values, positionals, signal, host } = input;
  if (positionals.length === 0) {
    throw new UsageError("give a file of games in PGN, a folder of them, or - for standard input");
  }
  const asked = requestFromMessage(readRequestOfMany(input));
  const files = await filesFromNames(positionals);
  await using opened = new AsyncDisposableStack();
  const local = opened.use(await openLocal(host, signal));
  // What is wrong with what is asked of all games is no game's own affair.
  await judgeRequest(asked, local.engines);
  const { output } = values;
  const annotated = typeof output === "string" ? opened.use(await openOutput(output, files)) : undefined;
  const tools = { local, openings: await readOpenings(local.beginWork()) };
  const tally: Tally = { games: 0, refused: 0, filesRefused: 0 };

  async function reviewSource(source: PgnSource, place: string): Promise<ReviewedGame> {
    const game = readGame(source);
    const bar = createProgressBar(game.positions.length, host.stderr, `${place} `);
    try {
      return await reviewGame(game, asked, tools, signal, bar.step);
    } finally {
      bar.clear();
    }
  }

  async function reviewFile(file: GamesFile): Promise<void> {
    const name = file.path ?? "-";
    let game = 0;
    for await (const source of readGames(file, host, signal)) {
      game++;
      tally.games++;
      const place = files.length > 1 ? `${file.name}, game ${game}` : `Game ${game}`;
      try {
        const reviewed = await reviewSource(source, place);
        await annotated?.write(reviewed.pgn);
        host.stdout.write(
          values.json
            ? lineOf({ file: name, game, ...jsonOfReview(reviewed) })
            : reportOfReview(place, reviewed),
        );
      } catch (thrown) {
        // What is wrong with the game is told, and the next one read; when an engine fails, that is all games' affair.
        if (!(thrown instanceof KibitzError && exitCodeOf(thrown) === exitCode.usage)) {
          throw thrown;
        }
        tally.refused++;
        if (values.json) {
          host.stdout.write(lineOf({ file: name, game, ...jsonOfRefusal(thrown) }));
        } else {
          host.stderr.write(complaintsOf(thrown, files.length > 1 ? `${file.name}: ` : ""));
        }
      }
    }
    if (game === 0) {
      throw new UsageError(`${file.name} has no games`);
    }
  }

  for (const file of files) {
    try {
      await reviewFile(file);
    } catch (thrown) {
      if (!(thrown instanceof UsageError)) {
        throw thrown;
      }
      tally.filesRefused++;
      host.stderr.write(`kibitz: ${thrown.message}\n`);
    }
  }
  host.stderr.write(scoreOf(tally));
  return tally.refused + tally.filesRefused > 0 ? exitCode.usage : exitCode.ok;
}

interface Tally {
  games: number;
  refused: number;
  /** Files without games, and those that could not be read. */
  filesRefused: number;
}

function scoreOf({ games, refused }: Tally): string {
  const count = `${games} ${games === 1 ? "game" : "games"}`;
  return `kibitz: ${refused > 0 ? `${count}, ${refused} refused` : count}\n`;
}

function lineOf(json: Readonly<Record<string, unknown>>): string {
  return `${JSON.stringify(json)}\n`;
}

interface AnnotatedFile extends AsyncDisposable {
  /** Behind a blank line. Resolves when it is in the file, where it stays whatever happens to the next game. */
  write(pgn: string): Promise<void>;
}

/** @throws UsageError where it cannot be written, or is one of the files that are to be read */
async function openOutput(output: string, files: readonly GamesFile[]): Promise<AnnotatedFile> {
  const paths = await Promise.all(files.map(({ path }) => path && realpath(path)));
  // A file that is not there yet has no path of its own: then it is none of the others.
  const target = await realpath(output).catch(() => undefined);
  if (target !== undefined && paths.includes(target)) {
    throw new UsageError(`--output ${output} is one of the files to review: name another one`);
  }
  const file = await open(output, "w").catch((error: Error) => {
    throw new UsageError(`cannot write ${output}: ${error.message}`);
  });
  let separator = "";
  return {
    async write(pgn) {
      await file.write(`${separator}${pgn}`);
      separator = "\n";
    },
    [Symbol.asyncDispose]: () => file.close(),
  };
}
