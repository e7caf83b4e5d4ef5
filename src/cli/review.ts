import { type Client, createClient } from "@connectrpc/connect";
import { type GameReview, GameReviewSchema } from "../../gen/chess/analysis/v1/game_pb.ts";
import { GameService } from "../../gen/chess/analysis/v1/game_service_pb.ts";
import { createMessageWriter } from "../calls/plain/write-message.ts";
import { KibitzError } from "../errors/errors.ts";
import type { Game } from "../game/game.ts";
import type { PgnSource } from "../game/pgn-error.ts";
import { noMoves } from "../game/read-pgn.ts";
import { withoutControls, withoutControlsInLines } from "../text/controls.ts";
import { sleep } from "../time/time.ts";
import { ask } from "./ask.ts";
import { printWait, type Wait, waitOf } from "./ask-many.ts";
import { type Command, type CommandInput, exitCode, UsageError } from "./command.ts";
import { complaintsOf, orPrintError, problemJson } from "./print-error.ts";
import { createProgress } from "./progress.ts";
import { remoteOptions } from "./remote-address.ts";
import { readRequestOfMany, searchOptions } from "./request-from-input.ts";
import { type AnnotatedFile, openAnnotatedFile } from "./review/annotated-file.ts";
import { filesFromNames, type GamesFile, readGame, readGames, UnreadableFile } from "./review/read-games.ts";
import { reportOfReview } from "./review/report-of-review.ts";
import { columnsOf, plural } from "./style.ts";

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
    "Files may be compressed with gzip or zstd. Text is UTF-8, or UTF-16 with a byte order mark; other lines are read as Windows-1252.",
    "A game has at most 600 plies, and 5000 moves with all variations.",
    "A game that cannot be read is reported with its line and column, and left out of --output; the others are reviewed.",
    "Ctrl-C keeps the games that are done. If the --output file exists, Kibitz resumes after its last game; it must hold the same games. Delete it to review them anew.",
    "Search results are stored in the user's cache folder for the next run (KIBITZ_STORE_MB), also those of an unfinished game.",
    "Accuracy and judgements are by the formulas of Lichess; evaluations are from White's point of view.",
    "With --url, a running service reviews the games; if it limits the rate, the command waits as long as the service says.",
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
  const files = await filesFromNames(positionals, output);
  await using opened = new AsyncDisposableStack();
  const { transport } = opened.use(await ask(input, { stores: true }));
  const annotated =
    output === undefined ? undefined : opened.use(await openAnnotatedFile(output, files, signal));
  const run: Run = {
    input,
    request: {
      path,
      ...(depth !== undefined && { depth }),
      ...(nodes !== undefined && { nodes }),
      ...(engine !== undefined && { engine }),
    },
    reviewGame: createClient(GameService, transport).reviewGame,
    annotated,
    counts: { games: 0, alreadyInOutput: 0, withoutMoves: 0, refused: 0, filesRefused: 0 },
  };
  const { counts } = run;
  try {
    for (const file of files) {
      await reviewFile(file, files.length > 1, run);
    }
  } catch (thrown) {
    if (signal.aborted || (counts.games > 0 && !(thrown instanceof UsageError))) {
      host.stderr.write(withoutControlsInLines(howToGoOn(counts, output)));
    }
    throw thrown;
  }
  host.stderr.write(withoutControlsInLines(totalOf(counts, output)));
  return counts.refused + counts.filesRefused > 0 ? exitCode.usage : exitCode.ok;
}

type ReviewGame = Client<typeof GameService>["reviewGame"];

interface Run {
  readonly input: CommandInput;
  readonly request: Parameters<ReviewGame>[0];
  readonly reviewGame: ReviewGame;
  readonly annotated: AnnotatedFile | undefined;
  readonly counts: Counts;
}

interface Counts {
  games: number;
  /** The number of games that an earlier run has written to the output file. */
  alreadyInOutput: number;
  /** The number of games without moves, such as forfeits. */
  withoutMoves: number;
  refused: number;
  filesRefused: number;
}

async function reviewFile(file: GamesFile, isOneOfMany: boolean, run: Run): Promise<void> {
  const { host, signal } = run.input;
  let number = 0;
  try {
    for await (const source of readGames(file, host, signal)) {
      number++;
      const title = isOneOfMany ? `${file.name}, game ${number}` : `Game ${number}`;
      const place = { file: file.path ?? "-", game: number, title };
      try {
        await reviewSource(source, place, run);
      } catch (thrown) {
        // Continue after an invalid game. Any other error would also affect the next games.
        if (!(thrown instanceof KibitzError && isOfGame(thrown))) {
          throw thrown;
        }
        // Only an error that this process found in the PGN has a line number.
        const isPlaced = thrown.violations.some((violation) => violation.place?.line !== undefined);
        reportRefusal(thrown, place, isPlaced ? (isOneOfMany ? `${file.name}: ` : "") : `${title}: `, run);
      }
      run.counts.games++;
    }
    if (number === 0) {
      throw new UnreadableFile(`${file.name} has no games`);
    }
  } catch (thrown) {
    if (!(thrown instanceof UnreadableFile)) {
      throw thrown;
    }
    run.counts.filesRefused++;
    host.stderr.write(`kibitz: ${withoutControls(thrown.message)}\n`);
  }
}

function isOfGame({ violations }: KibitzError): boolean {
  return violations.length > 0 && violations.every(({ pointer }) => /^\/(pgn|fen|moves)\b/.test(pointer));
}

interface GamePlace {
  readonly file: string;
  readonly game: number;
  readonly title: string;
}

function reportRefusal(
  error: KibitzError,
  { file, game, title }: GamePlace,
  prefix: string,
  { input, counts }: Run,
): void {
  const { values, host } = input;
  const isEmpty = error.message.startsWith(noMoves);
  counts[isEmpty ? "withoutMoves" : "refused"]++;
  if (values.json === true) {
    host.stdout.write(lineOf({ file, game, ...JSON.parse(problemJson(error)) }));
  } else {
    host.stderr.write(isEmpty ? `kibitz: ${title} has no moves to review\n` : complaintsOf(error, prefix));
  }
}

async function reviewSource(source: PgnSource, place: GamePlace, run: Run): Promise<void> {
  const { input, annotated, counts } = run;
  const { host, values } = input;
  const { game, text } = readGame(source);
  if (await annotated?.has(game)) {
    counts.alreadyInOutput++;
    return;
  }
  const { file, game: number, title } = place;
  const review = await reviewWhenAllowed(text, game, title, run);
  await annotated?.write(review.pgn);
  host.stdout.write(
    values.json
      ? lineOf({ file, game: number, ...JSON.parse(writeReview(review)) })
      : reportOfReview(title, game, review, columnsOf(host) ?? usualColumns),
  );
}

const writeReview = createMessageWriter(GameReviewSchema);

const usualColumns = 80;

/** While a rate limit rejects the request, waits and retries. A run may review thousands of games. */
async function reviewWhenAllowed(
  text: string,
  { positions }: Game,
  title: string,
  { input: { host, signal }, request, reviewGame }: Run,
): Promise<GameReview> {
  for (;;) {
    const progress = createProgress(positions.length, host.stderr, title);
    let review: GameReview | undefined;
    let wait: Wait | undefined;
    try {
      for await (const { event } of reviewGame({ ...request, pgn: text }, { signal })) {
        progress.step();
        review = event.case === "review" ? event.value : review;
      }
      if (review === undefined) {
        throw new Error("the review ended without its last message");
      }
      return review;
    } catch (thrown) {
      wait = thrown instanceof KibitzError ? waitOf(thrown) : undefined;
      if (wait === undefined) {
        throw thrown;
      }
    } finally {
      progress.clear();
    }
    printWait(wait, host.stderr);
    await sleep(wait.ms, { signal });
  }
}

function totalOf(
  { games, alreadyInOutput, withoutMoves, refused }: Counts,
  output: string | undefined,
): string {
  const parts = [
    plural(games, "game"),
    ...(alreadyInOutput > 0 ? [`${alreadyInOutput} in ${output} before and not reviewed again`] : []),
    ...(withoutMoves > 0 ? [`${withoutMoves} without moves`] : []),
    ...(refused > 0 ? [`${refused} refused`] : []),
  ];
  return `kibitz: ${parts.join(", ")}\n`;
}

function howToGoOn({ games, withoutMoves, refused }: Counts, output: string | undefined): string {
  const done = `kibitz: interrupted after ${plural(games, "game")}`;
  const kept = games - withoutMoves - refused;
  return output === undefined
    ? `${done}; with --output <file>, the same command can be run again to continue\n`
    : `${done}; run the same command again to continue (${plural(kept, "game")} ${kept === 1 ? "is" : "are"} in ${output})\n`;
}

function lineOf(json: Readonly<Record<string, unknown>>): string {
  return `${withoutControls(JSON.stringify(json))}\n`;
}
