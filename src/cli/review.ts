import { setTimeout as sleep } from "node:timers/promises";
import { type Client, createClient } from "@connectrpc/connect";
import { type GameReview, GameReviewSchema } from "../../gen/chess/analysis/v1/game_pb.ts";
import { GameService } from "../../gen/chess/analysis/v1/game_service_pb.ts";
import { createMessageWriter } from "../calls/plain/write-message.ts";
import { KibitzError } from "../errors/errors.ts";
import type { Game } from "../game/game.ts";
import type { PgnSource } from "../game/pgn-error.ts";
import { noMoves } from "../game/read-pgn.ts";
import { withoutControls } from "../text/plain-text.ts";
import { ask } from "./ask.ts";
import { printWait, waitOf } from "./ask-many.ts";
import { type Command, type CommandInput, exitCode, UsageError } from "./command.ts";
import { complaintsOf, orPrintError, problemJson } from "./print-error.ts";
import { createProgressBar } from "./progress-bar.ts";
import { remoteOptions } from "./remote-address.ts";
import { readRequestOfMany, searchOptions } from "./request-from-input.ts";
import { type AnnotatedFile, openAnnotatedFile } from "./review/annotated-file.ts";
import { filesFromNames, type GamesFile, readGame, readGames, UnreadableFile } from "./review/read-games.ts";
import { reportOfReview } from "./review/report-of-review.ts";
import { shownReview } from "./review/shown-review.ts";
import { createTimeLeft, type TimeLeft } from "./review/time-left.ts";
import { plural, styleOf } from "./style.ts";

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
    ...remoteOptions,
  },
  notes: [
    "Takes files, folders of .pgn files, and - for standard input; each may have many games.",
    "Text that is not UTF-8 is read as Windows-1252.",
    "A game has at most 600 plies, and 5000 moves with all variations.",
    "A game that cannot be read is reported with its line and column, and left out of --output; the others are reviewed.",
    "Ctrl-C keeps the games that are done. If the --output file exists, Kibitz resumes after its last game; it must hold the same games. Delete it to review them anew.",
    "What was searched here is stored in the user's cache folder for the next run (KIBITZ_STORE_MB), also of a game that was not finished.",
    "Accuracy and judgements are by the formulas of Lichess; evaluations are from White's point of view.",
    "With --url, a running service reviews the games; if it limits the rate, the rest waits as long as it says.",
  ],
  run: (input) => orPrintError(input, () => review(input)),
};

async function review(input: CommandInput): Promise<number> {
  const { values, positionals, signal, host } = input;
  if (positionals.length === 0) {
    throw new UsageError("give a file of games in PGN, a folder of them, or - for standard input");
  }
  const output = typeof values.output === "string" ? values.output : undefined;
  if (output === "-") {
    throw new UsageError("--output - names no file: the annotated PGN on standard output is `pgn` of --json");
  }
  const { depth, nodes, engine, path } = readRequestOfMany(input);
  const asked = {
    path,
    ...(depth !== undefined && { depth }),
    ...(nodes !== undefined && { nodes }),
    ...(engine !== undefined && { engine }),
  };
  const files = await filesFromNames(positionals, output);
  await using opened = new AsyncDisposableStack();
  const { transport } = opened.use(await ask(input, { stores: true }));
  const { reviewGame } = createClient(GameService, transport);
  const annotated =
    output === undefined ? undefined : opened.use(await openAnnotatedFile(output, files, signal));
  const tally: Tally = { games: 0, there: 0, withoutMoves: 0, refused: 0, filesRefused: 0 };
  const bytes = files.map((file) => file.bytes);
  const timeLeft = createTimeLeft(bytes.includes(0) ? 0 : sumOf(bytes));
  try {
    for (const [index, file] of files.entries()) {
      const before = sumOf(bytes.slice(0, index));
      await reviewFile(file, files.length > 1, {
        input,
        asked,
        reviewGame,
        annotated,
        tally,
        timeLeft,
        before,
      });
    }
  } catch (thrown) {
    if (signal.aborted || (tally.games > 0 && !(thrown instanceof UsageError))) {
      host.stderr.write(howToGoOn(tally, output));
    }
    throw thrown;
  }
  host.stderr.write(scoreOf(tally, output));
  return tally.refused + tally.filesRefused > 0 ? exitCode.usage : exitCode.ok;
}

type ReviewInit = Parameters<Client<typeof GameService>["reviewGame"]>[0];

interface Run {
  readonly input: CommandInput;
  /** The search of each position. */
  readonly asked: ReviewInit;
  readonly reviewGame: Client<typeof GameService>["reviewGame"];
  readonly annotated: AnnotatedFile | undefined;
  readonly tally: Tally;
  readonly timeLeft: TimeLeft;
  /** Bytes of the files before this one. */
  readonly before: number;
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, one) => sum + one, 0);
}

interface Tally {
  /** Games that are done. */
  games: number;
  /** The games among them that the output already had. */
  there: number;
  /** The games among them without moves, such as forfeits. */
  withoutMoves: number;
  refused: number;
  /** Files without games, and files that could not be read. */
  filesRefused: number;
}

async function reviewFile(file: GamesFile, isOneOfMany: boolean, run: Run): Promise<void> {
  const { input, tally } = run;
  const { host, signal } = input;
  let number = 0;
  try {
    for await (const source of readGames(file, host, signal)) {
      number++;
      const place = isOneOfMany ? `${file.name}, game ${number}` : `Game ${number}`;
      try {
        await reviewSource(source, { file, number, place }, run);
      } catch (thrown) {
        // An invalid game is reported, and the next one is read. Any other error would meet all games.
        if (!(thrown instanceof KibitzError && isOfGame(thrown))) {
          throw thrown;
        }
        const isEmpty = thrown.message.startsWith(noMoves);
        tally[isEmpty ? "withoutMoves" : "refused"]++;
        if (input.values.json === true) {
          const problem = JSON.parse(problemJson(thrown));
          host.stdout.write(lineOf({ file: file.path ?? "-", game: number, ...problem }));
        } else if (isEmpty) {
          host.stderr.write(`kibitz: ${place} has no moves to review\n`);
        } else {
          // The message of a game that cannot be read has its place in the file; that of a game that is refused has none.
          const isPlaced = thrown.faults.some((fault) => fault.place !== undefined);
          const where = isPlaced ? (isOneOfMany ? `${file.name}: ` : "") : `${place}: `;
          host.stderr.write(complaintsOf(thrown, where));
        }
      }
      tally.games++;
    }
    if (number === 0) {
      throw new UnreadableFile(`${file.name} has no games`);
    }
  } catch (thrown) {
    if (!(thrown instanceof UnreadableFile)) {
      throw thrown;
    }
    tally.filesRefused++;
    host.stderr.write(`kibitz: ${thrown.message}\n`);
  }
}

/** True if the error is about the game, and not about the options. */
function isOfGame({ faults }: KibitzError): boolean {
  return faults.length > 0 && faults.every(({ pointer }) => /^\/(pgn|fen|moves)\b/.test(pointer));
}

interface GamePlace {
  readonly file: GamesFile;
  readonly number: number;
  /** `Game 3` */
  readonly place: string;
}

async function reviewSource(source: PgnSource, { file, number, place }: GamePlace, run: Run): Promise<void> {
  const { input, annotated, tally } = run;
  const { host, values } = input;
  const game = readGame(source);
  if (await annotated?.has(game)) {
    tally.there++;
    return;
  }
  const found = await reviewWithBar(source, game, place, run);
  await annotated?.write(found.pgn);
  host.stdout.write(
    values.json
      ? lineOf({ file: file.path ?? "-", game: number, ...JSON.parse(writeReview(found)) })
      : reportOfReview(place, shownReview(game, found), styleOf(host)),
  );
}

const writeReview = createMessageWriter(GameReviewSchema);

/** If the service asks for time, waits as long as it says: there may be thousands of games. */
async function reviewWithBar(source: PgnSource, game: Game, place: string, run: Run): Promise<GameReview> {
  const { input, timeLeft, before } = run;
  const { host, signal } = input;
  const left = timeLeft.textAt(before + (source.file?.offset ?? 0));
  for (;;) {
    const bar = createProgressBar(game.positions.length, host.stderr, `${place}${left} `);
    try {
      return await reviewOnce(source, run, bar.step);
    } catch (thrown) {
      const wait = thrown instanceof KibitzError ? waitOf(thrown) : undefined;
      if (wait === undefined) {
        throw thrown;
      }
      bar.clear();
      printWait(wait, host.stderr);
      await sleep(wait.ms, undefined, { signal });
    } finally {
      bar.clear();
    }
  }
}

/** @param onPosition is called for each evaluated position */
async function reviewOnce(
  { text }: PgnSource,
  { input: { signal }, asked, reviewGame }: Run,
  onPosition: () => void,
): Promise<GameReview> {
  let review: GameReview | undefined;
  for await (const { event } of reviewGame({ ...asked, pgn: text }, { signal })) {
    if (event.case === "move" || event.case === "review") {
      onPosition();
    }
    review = event.case === "review" ? event.value : review;
  }
  if (review === undefined) {
    throw new Error("the review ended without its last message");
  }
  return review;
}

function scoreOf({ games, there, withoutMoves, refused }: Tally, output: string | undefined): string {
  const parts = [
    plural(games, "game"),
    ...(there > 0 ? [`${there} in ${output} before and not reviewed again`] : []),
    ...(withoutMoves > 0 ? [`${withoutMoves} without moves`] : []),
    ...(refused > 0 ? [`${refused} refused`] : []),
  ];
  return `kibitz: ${parts.join(", ")}\n`;
}

function howToGoOn({ games, withoutMoves, refused }: Tally, output: string | undefined): string {
  const done = `kibitz: interrupted after ${plural(games, "game")}`;
  const kept = games - withoutMoves - refused;
  return output === undefined
    ? `${done}; with --output <file>, the same command can be run again to continue\n`
    : `${done}; run the same command again to continue (${plural(kept, "game")} ${kept === 1 ? "is" : "are"} in ${output})\n`;
}

function lineOf(json: Readonly<Record<string, unknown>>): string {
  return `${withoutControls(JSON.stringify(json))}\n`;
}
