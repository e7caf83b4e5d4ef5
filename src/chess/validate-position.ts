import { kingAttacks } from "chessops/attacks";
import type { Board } from "chessops/board";
import { Chess, IllegalSetup } from "chessops/chess";
import type { Setup } from "chessops/setup";
import { SquareSet } from "chessops/squareSet";
import { COLORS, type Color, type Role, type Square } from "chessops/types";
import { makeSquare, opposite, squareFile, squareRank } from "chessops/util";
import { type History, trackHistory } from "./history.ts";
import { inOneGo } from "./in-one-go.ts";
import {
  legalMovesOf,
  meaningOf,
  moveFromText,
  normalFen,
  uciFromMove,
  violationOfMove,
  whyNotPlayed,
} from "./moves.ts";
import { readPastedFen } from "./pasted-fen.ts";
import type {
  DrawClaim,
  Position,
  PositionInput,
  PositionViolation,
  Terminal,
  TerminalReason,
  Validation,
  Warning,
} from "./position.ts";
import { type FenPart, type FenProblem, maxFenCharacters, readFen, warningOfChess960 } from "./read-fen.ts";

/** Playing this number of moves takes a quarter of a millisecond on average, and two milliseconds at most. */
export const movesAtOnce = 50;

/** Only this module creates `Position` objects. Other modules can therefore rely on a valid position. */
export function validatePosition(input: PositionInput): Validation {
  return inOneGo(validatePositionInSlices(input));
}

/** Yields after each time slice. */
export function* validatePositionInSlices(input: PositionInput): Generator<void, Validation> {
  const start = yield* readStart(input);
  if (start.kind === "violations") {
    return start;
  }
  const { chess, chess960 } = start;
  const history = trackHistory(chess, chess960);
  let violation: PositionViolation | undefined;
  const moves: string[] = [];
  for (const [index, text] of input.moves.entries()) {
    if (index > 0 && index % movesAtOnce === 0) {
      yield;
    }
    let move = moveFromText(chess, text);
    let spelling = text;
    if (move === undefined) {
      violation ??= violationOf(chess, text, index, start);
      const meant = meaningOf(chess, text);
      if (meant === undefined) {
        return { kind: "violations", violations: [violation] };
      }
      ({ move, spelling } = meant);
    }
    moves.push(spelling);
    const uci = uciFromMove(chess, move, chess960);
    chess.play(move);
    history.add(uci);
  }
  if (violation) {
    return { kind: "violations", violations: [violation], suggested: { moves } };
  }
  const position = positionFromBoard(chess, history, chess960);
  return { kind: "position", position: { ...position, warnings: [...start.warnings, ...position.warnings] } };
}

/**
 * Validates the position before the moves. The moves are not validated, and only decide whether the position is Chess960.
 * Yields after each time slice.
 */
export function* validateStartInSlices(input: PositionInput): Generator<void, Validation> {
  const start = yield* readStart(input);
  if (start.kind === "violations") {
    return start;
  }
  const { chess, chess960 } = start;
  const position = positionFromBoard(chess, trackHistory(chess, chess960), chess960);
  return { kind: "position", position: { ...position, warnings: [...start.warnings, ...position.warnings] } };
}

interface Start {
  readonly kind: "start";
  readonly chess: Chess;
  readonly chess960: boolean;
  readonly warnings: readonly Warning[];
}

function* readStart(
  input: PositionInput,
): Generator<void, Start | Extract<Validation, { kind: "violations" }>> {
  const { fen, moves, chess960 } = input;
  const reading = readFen(fen, chess960);
  if (reading.kind === "problems") {
    const pasted = readPastedFen(fen, moves);
    const problem = pasted && problemOfPasted(fen, pasted.fen);
    const refused = refusal("invalid_fen", problem ? [problem] : reading.problems);
    const suggested = pasted ?? (reading.completed ? { fen: reading.completed } : undefined);
    const corrected = suggested && (yield* validatePositionInSlices({ ...input, ...suggested }));
    const others = corrected?.kind === "violations" ? corrected.suggested : {};
    return suggested && others ? { ...refused, suggested: { ...suggested, ...others } } : refused;
  }
  const validation = validateSetup(reading.setup, reading);
  if (validation.kind === "problems") {
    return refusal("illegal_position", validation.problems);
  }
  const { chess } = validation;
  const removed = reading.warnings.find(({ code }) => code === "castling_rights_removed");
  const shuffled =
    removed && chess960 === undefined ? yield* chess960By(moves, chess, fen, removed) : undefined;
  const warnings = [...reading.warnings, ...validation.warnings];
  return shuffled ?? { kind: "start", chess, chess960: reading.chess960, warnings };
}

/**
 * Reads the position as Chess960 if a castling move needs the removed rights: if the first move that is illegal in standard
 * chess is legal in Chess960.
 */
function* chess960By(
  moves: readonly string[],
  standard: Chess,
  fen: string,
  removed: Warning,
): Generator<void, Start | undefined> {
  const legal = yield* countLegal(standard, moves);
  const reading = readFen(fen, true);
  if (legal === moves.length || reading.kind === "problems") {
    return undefined;
  }
  const validation = validateSetup(reading.setup, reading);
  if (
    validation.kind === "problems" ||
    (yield* countLegal(validation.chess, moves.slice(0, legal + 1))) <= legal
  ) {
    return undefined;
  }
  const warnings = [...reading.warnings, ...validation.warnings].filter(({ code }) => code !== removed.code);
  const assumed = warningOfChess960(reading.castling);
  return { kind: "start", chess: validation.chess, chess960: true, warnings: [assumed, ...warnings] };
}

/** Returns the number of legal moves before the first illegal move. */
function* countLegal(start: Chess, moves: readonly string[]): Generator<void, number> {
  const chess = start.clone();
  for (const [index, text] of moves.entries()) {
    if (index > 0 && index % movesAtOnce === 0) {
      yield;
    }
    const move = moveFromText(chess, text);
    if (move === undefined) {
      return index;
    }
    chess.play(move);
  }
  return moves.length;
}

function violationOf(chess: Chess, text: string, index: number, start: Start): PositionViolation {
  const why = `${whyNotPlayed(chess, text, start.chess960)}${removedRights(start, text)}`;
  return violationOfMove(text, index, why, normalFen(chess, start.chess960));
}

/** Returns the warning about a removed castling right if `text` is a castling move. Otherwise returns an empty text. */
export function removedRights({ warnings }: Pick<Position, "warnings">, text: string): string {
  const lost = warnings.find(({ code }) => code === "castling_rights_removed");
  const isCastling = /^[O0o]-[O0o]|^e[18][acgh][18]$/.test(text);
  return lost && isCastling ? ` (${lost.message.replace(/\.$/, "")})` : "";
}

/** Reports the first text that does not belong to the FEN. Returns undefined if another error message is more helpful. */
function problemOfPasted(text: string, fen: string): FenProblem | undefined {
  const written = text.trim();
  if (text.length > maxFenCharacters || /[^ -~]/.test(written) || written.startsWith(`${fen} moves`)) {
    return undefined;
  }
  const at = Math.max(
    0,
    [...written].findIndex((sign, index) => sign !== fen[index]),
  );
  const [part = ""] = /^_|^\S+/.exec(written.slice(at)) ?? [];
  return {
    message: `Send the FEN alone, its fields separated by spaces: '${fen}'.`,
    part: { text: part, offset: text.indexOf(written) + at },
  };
}

/** Do not play another move on `chess` afterwards: the returned position contains this board. */
export function positionFromBoard(
  chess: Chess,
  { root, moves, occurrences }: History,
  chess960: boolean,
): Position {
  const outcome = findOutcome(chess, occurrences);
  return {
    fen: moves.length === 0 ? root : normalFen(chess, chess960),
    root,
    moves,
    turn: chess.turn,
    chess960,
    ...outcome,
    warnings: outcome.terminal ? [] : warningsOfClock(chess.halfmoves, moves.length),
    board: chess,
  };
}

function refusal(code: "invalid_fen" | "illegal_position", problems: readonly FenProblem[]) {
  const violations = problems.map(
    ({ message, part }): PositionViolation => ({
      code,
      field: "fen",
      message,
      offset: part.offset,
      token: part.text,
    }),
  );
  return { kind: "violations", violations } as const;
}

function warningsOfClock(halfmoves: number, moveCount: number): Warning[] {
  const warnings: Warning[] = [];
  if (halfmoves >= 4 && moveCount === 0) {
    const message =
      "Repetitions cannot be seen in a FEN; send the moves since the last capture or pawn move to count them.";
    warnings.push({ code: "no_history", message, field: "fen" });
  }
  if (halfmoves >= 100) {
    const message =
      "A draw by the 50-move rule can be claimed; the engine scores lines without capture or pawn move 0.00.";
    warnings.push({ code: "fifty_move_horizon", message, field: "fen" });
  }
  return warnings;
}

type SetupValidation =
  | { kind: "chess"; chess: Chess; warnings: readonly Warning[] }
  | { kind: "problems"; problems: readonly FenProblem[] };

interface SetupFields {
  readonly placement: FenPart;
  readonly turn: FenPart;
}

/** Rejects a position that engines cannot search. Accepts other impossible positions, such as impossible checks. */
function validateSetup(setup: Setup, fields: SetupFields): SetupValidation {
  const { board, epSquare } = setup;
  // chessops does not check that the en passant square is empty.
  const epAsked = epSquare !== undefined && board.occupied.has(epSquare) ? undefined : epSquare;
  return Chess.fromSetup({ ...setup, epSquare: epAsked }).unwrap<SetupValidation, SetupValidation>(
    (chess) => {
      const problems = problemsOfMaterial(board, fields.placement);
      if (problems.length > 0) {
        return { kind: "problems", problems };
      }
      chess.epSquare = chess.toSetup().epSquare;
      const removed = epSquare !== undefined && chess.epSquare === undefined;
      return { kind: "chess", chess, warnings: removed ? [warningOfEnPassant(makeSquare(epSquare))] : [] };
    },
    (error) => {
      const capturable =
        error.message === IllegalSetup.OppositeCheck ? [problemOfCheck(board, setup.turn, fields)] : [];
      return {
        kind: "problems",
        problems: [...problemsOfMaterial(board, fields.placement), ...capturable],
      };
    },
  );
}

const names = { white: "White", black: "Black" } as const;

function problemsOfMaterial(board: Board, placement: FenPart): FenProblem[] {
  const problems = COLORS.flatMap((color) => problemsOfSide(board, color, placement));
  const pieces = board.occupied.size();
  if (pieces > 32) {
    const message = `There are ${pieces} pieces on the board; a game begins with 32.`;
    problems.push({ message, part: placement });
  }
  return problems;
}

function problemsOfSide(board: Board, color: Color, placement: FenPart): FenProblem[] {
  const count = (role: Role) => board.pieces(color, role).size();
  const side = names[color];
  const problems: FenProblem[] = [];
  const report = (message: string, part = placement) => problems.push({ message, part });

  const kings = count("king");
  if (kings === 0) {
    report(`${side} has no king.`);
  }
  if (kings > 1) {
    report(`${side} has ${kings} kings; each side has exactly one.`);
  }

  const stranded = board.pieces(color, "pawn").intersect(SquareSet.backranks()).first();
  if (stranded !== undefined) {
    const message = `${side} has a pawn on ${makeSquare(stranded)}; pawns are never on rank 1 or 8.`;
    report(message, pieceOn(stranded, placement));
  }

  const pawns = count("pawn");
  if (pawns > 8) {
    report(`${side} has ${pawns} pawns; a side never has more than 8.`);
  }

  // Count each kind of piece, as Stockfish does. Two bishops on squares of one colour are accepted, even beside eight pawns.
  const promoted =
    Math.max(count("queen") - 1, 0) +
    Math.max(count("rook") - 2, 0) +
    Math.max(count("bishop") - 2, 0) +
    Math.max(count("knight") - 2, 0);
  const missing = Math.max(8 - pawns, 0);
  if (promoted > missing) {
    report(`${side} has more promoted pieces (${promoted}) than missing pawns (${missing}).`);
  }
  return problems;
}

function problemOfCheck(board: Board, turn: Color, fields: SetupFields): FenProblem {
  const king = board.kingOf(turn);
  const other = board.kingOf(opposite(turn));
  if (king !== undefined && other !== undefined && kingAttacks(king).has(other)) {
    const message = `The kings on ${makeSquare(king)} and ${makeSquare(other)} are next to each other.`;
    return { message, part: pieceOn(king, fields.placement) };
  }
  const message = `${names[opposite(turn)]} is in check although it is ${names[turn]}'s move: the king could be captured.`;
  return { message, part: fields.turn };
}

/** Returns the letter of a piece in the first field of a FEN. The square must be occupied. */
function pieceOn(square: Square, { text, offset }: FenPart): FenPart {
  // A FEN describes the squares from a8 to h1.
  let squaresBefore = (7 - squareRank(square)) * 8 + squareFile(square);
  let index = 0;
  for (; squaresBefore > 0 || text[index] === "/"; index++) {
    const symbol = text[index] ?? "";
    squaresBefore -= symbol > "8" ? 1 : Number(symbol) || 0;
  }
  return { text: text.charAt(index), offset: offset + index };
}

function warningOfEnPassant(square: string): Warning {
  const message = `The en passant square ${square} was removed: no pawn can legally capture there.`;
  return { code: "ep_square_removed", message, field: "fen" };
}

interface Outcome {
  readonly legalMoveCount: number;
  readonly terminal: Terminal | undefined;
  readonly drawClaim: DrawClaim | undefined;
}

/**
 * After 100 plies without a capture or pawn move, a player may claim a draw (FIDE 9.3). After 150 plies, the game is drawn
 * (9.6.2).
 */
const claimablePlies = 100;
const drawnPlies = 150;

/** If a position occurs three times, a player may claim a draw (FIDE 9.2). After five times, the game is drawn (9.6.1). */
const claimableOccurrences = 3;
const drawnOccurrences = 5;

function findOutcome(chess: Chess, occurrences: number): Outcome {
  const legalMoveCount = legalMovesOf(chess).length;
  const terminal = terminalOf(chess, legalMoveCount, occurrences);
  return { legalMoveCount, terminal, drawClaim: terminal ? undefined : drawClaimOf(chess, occurrences) };
}

function terminalOf(chess: Chess, legalMoveCount: number, occurrences: number): Terminal | undefined {
  if (legalMoveCount === 0 && chess.isCheck()) {
    const winner = opposite(chess.turn);
    return { reason: "checkmate", winner, result: winner === "white" ? "1-0" : "0-1" };
  }
  if (legalMoveCount === 0) {
    return drawBy("stalemate");
  }
  if (chess.isInsufficientMaterial()) {
    return drawBy("insufficient_material");
  }
  if (chess.halfmoves >= drawnPlies) {
    return drawBy("seventyfive_moves");
  }
  if (occurrences >= drawnOccurrences) {
    return drawBy("fivefold_repetition");
  }
  return undefined;
}

function drawClaimOf(chess: Chess, occurrences: number): DrawClaim | undefined {
  if (chess.halfmoves >= claimablePlies) {
    return "fifty_moves";
  }
  if (occurrences >= claimableOccurrences) {
    return "threefold_repetition";
  }
  return undefined;
}

function drawBy(reason: Exclude<TerminalReason, "checkmate">): Terminal {
  return { reason, winner: undefined, result: "1/2-1/2" };
}
