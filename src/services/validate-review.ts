import type { ReviewLimits } from "../access/over-plan.ts";
import type { AnalysisRequest, ValidatedRequest } from "../analysis/analysis.ts";
import { type KnownEngines, validateSearch } from "../analysis/validate-request.ts";
import { costOfBytes, errorFromViolations, KibitzError, type Violation, withCost } from "../errors/errors.ts";
import { type Game, gameFromMoves, gameFromPgn } from "../game/game.ts";
import { type PgnGame, textBefore } from "../game/read-pgn.ts";
import { readSentGame } from "../game/read-sent-game.ts";
import { holdsKey } from "../text/plain-text.ts";
import { inTurns, type Turn } from "../thread/event-loop.ts";

export interface ValidatedReview {
  readonly game: Game;
  /** One request for each position of the game, including the start position. A terminal position needs no search. */
  readonly requests: readonly ValidatedRequest[];
  /** The values that are compared with the limits of the caller's plan. */
  readonly limits: ReviewLimits;
}

/** Throws a KibitzError if the game, engine or path is invalid. */
export async function validateReview(
  sent: SentGame,
  search: AnalysisRequest,
  engines: KnownEngines,
  turn: Turn,
): Promise<ValidatedReview> {
  const { game, pointer, shortened } = await readGame(sent, turn);
  const requests: ValidatedRequest[] = [];
  for (const position of game.positions) {
    await turn();
    requests.push(validateSearch(search, position, engines.catalog));
  }
  const [first] = requests;
  const { depth, nodes, multipv: lines = 1 } = first ?? {};
  return { game, requests, limits: { depth, nodes, lines, plies: game.moves.length, pointer, shortened } };
}

/** The client sends either `pgn`, or `moves` and optionally `fen`. */
interface SentGame {
  readonly pgn?: string | undefined;
  readonly fen?: string | undefined;
  readonly moves: readonly string[];
}

interface ReadGame extends Pick<ReviewLimits, "pointer" | "shortened"> {
  readonly game: Game;
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
    const game = await inTurns(gameFromMoves({ fen: fen ?? "startpos", moves }), turn);
    return { game, pointer: "/moves", shortened: (plies) => ({ minItems: 1, maxItems: plies }) };
  }
  if (holdsKey(text)) {
    throw wrongGame("/pgn", "`pgn` contains an API key, which the answer would repeat.");
  }
  try {
    const pgn = await inTurns(readSentGame(text), turn);
    const game = await inTurns(gameFromPgn(pgn), turn);
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
