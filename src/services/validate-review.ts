import type { ReviewLimits } from "../access/over-plan.ts";
import type { AllowedLimits, AnalysisRequest, ValidatedRequest } from "../analysis/analysis.ts";
import { type KnownEngines, validateSearch } from "../analysis/validate-request.ts";
import { costOfBytes, errorFromViolations, KibitzError, type Violation, withCost } from "../errors/errors.ts";
import {
  type Game,
  type LegalGame,
  legalGameFromMoves,
  legalGameFromPgn,
  withPositions,
} from "../game/game.ts";
import { type PgnGame, textBefore } from "../game/read-pgn.ts";
import { readSentGame } from "../game/read-sent-game.ts";
import { holdsKey } from "../text/keys-in-text.ts";
import { inTurns, type Turn } from "../thread/time-slices.ts";

export interface ValidatedReview {
  readonly game: Game;
  /** One request for each position of the game, including the start position. A terminal position needs no search. */
  readonly requests: readonly ValidatedRequest[];
}

/** A valid review that has not been compared with the caller's plan. The game has no positions yet, because they need memory. */
interface ReadReview {
  readonly game: LegalGame;
  readonly search: AnalysisRequest;
  /** The values that are compared with the limits of the caller's plan. */
  readonly limits: ReviewLimits;
}

interface ReviewSetting {
  readonly engines: KnownEngines;
  readonly allowed: AllowedLimits;
  readonly turn: Turn;
}

/** Throws a KibitzError if the game, engine or path is invalid. */
export async function readReview(
  sent: SentGame,
  search: AnalysisRequest,
  { engines: { catalog }, allowed, turn }: ReviewSetting,
): Promise<ReadReview> {
  const { game, pointer, shortened } = await readGame(sent, turn);
  const { depth, nodes, multipv: lines } = validateSearch(search, game.start, catalog, allowed);
  const plies = game.moves.length;
  return { game, search, limits: { depth, nodes, lines, plies, pointer, shortened } };
}

/** Builds the positions of a review that the caller's plan allows. */
export async function validateReview(
  { game: legal, search }: ReadReview,
  { engines: { catalog }, allowed, turn }: ReviewSetting,
): Promise<ValidatedReview> {
  const game = await inTurns(withPositions(legal), turn);
  const requests: ValidatedRequest[] = [];
  for (const position of game.positions) {
    await turn();
    requests.push(validateSearch(search, position, catalog, allowed));
  }
  return { game, requests };
}

/** The client sends either `pgn`, or `moves` and optionally `fen`. */
interface SentGame {
  readonly pgn?: string | undefined;
  readonly fen?: string | undefined;
  readonly moves: readonly string[];
}

interface ReadGame extends Pick<ReviewLimits, "pointer" | "shortened"> {
  readonly game: LegalGame;
}

async function readGame({ pgn: text, fen, moves }: SentGame, turn: Turn): Promise<ReadGame> {
  if (text !== undefined && (fen !== undefined || moves.length > 0)) {
    throw wrongGame("/pgn", "A review is of one game: send `pgn`, or `fen` and `moves`, and not both.");
  }
  if (text === undefined && moves.length === 0) {
    const message =
      fen === undefined
        ? "There is no game: send it as `pgn`, or as `fen` and `moves`."
        : "There is no game: `moves` must have at least 1 item.";
    throw wrongGame(fen === undefined ? "/pgn" : "/moves", message);
  }
  if (text === undefined) {
    const game = await inTurns(legalGameFromMoves({ fen: fen ?? "startpos", moves }), turn);
    return { game, pointer: "/moves", shortened: (plies) => ({ minItems: 1, maxItems: plies }) };
  }
  if (holdsKey(text)) {
    throw wrongGame("/pgn", "`pgn` contains an API key, which the answer would repeat.");
  }
  try {
    const pgn = await inTurns(readSentGame(text), turn);
    const game = await inTurns(legalGameFromPgn(pgn), turn);
    return { game, pointer: "/pgn", shortened: (plies) => shortenedTo(pgn, plies) };
  } catch (thrown) {
    throw thrown instanceof KibitzError ? withCost(thrown, costOfBytes(text.length)) : thrown;
  }
}

function wrongGame(pointer: string, message: string): KibitzError {
  return errorFromViolations([{ pointer, code: "invalid_pgn", message }]);
}

function shortenedTo(pgn: PgnGame, plies: number): Violation["allowed"] {
  const next = pgn.moves[plies];
  const text = next && textBefore(pgn, next, plies + 1);
  return text === undefined ? undefined : { examples: [text] };
}
