import { Chess } from "chessops/chess";
import { parseFen } from "chessops/fen";
import { trackHistory } from "../chess/history.ts";
import { moveFromText, uciFromMove } from "../chess/moves.ts";
import type { Position } from "../chess/position.ts";
import { turn as nextTurn, now } from "../time/time.ts";
import { type FilesOptions, openFiles } from "./files.ts";
import { blackBit, keyOfBoard, keyOfCodes, type Material, piecesOf } from "./material.ts";
import { type MissReason, TableMiss } from "./miss.ts";
import type { Tables } from "./probe.ts";
import {
  type Evaluation,
  evaluate,
  evaluateMove,
  hasBetterResult,
  isShorterWin,
  keepsResult,
  type Occurrences,
  type RankedMove,
  rankMoves,
} from "./rank-moves.ts";
import type { TableMove, TableMoves, TableResult, TablesSummary } from "./results.ts";

/** Exact results of positions with few men, from Syzygy tables. */
export interface Tablebase extends AsyncDisposable {
  /** Undefined if there is no table. */
  summary(): TablesSummary | undefined;
  /** False if no table can know the position. Reads no file. */
  mayKnow(position: Position): boolean;
  probe(position: Position, options?: ProbeOptions): Promise<TableAnswer<TableResult>>;
  /** Also probes each legal move, and lists the best move first. A move that makes a draw by repetition counts as a draw. */
  probeMoves(position: Position, options?: ProbeOptions): Promise<TableAnswer<TableMoves>>;
  /** Returns a function that compares moves of a position. It ranks the moves at most once, however often it is called. */
  compareMoves(
    position: Position,
    known: Pick<TableResult, "category">,
    options?: CompareOptions,
  ): BetterMove;
}

/**
 * Returns the UCI of the best allowed move if the move `uci` gives a better result away. Otherwise undefined. After a repetition, also
 * returns it if its win is shorter. Is quick if `uci` keeps the `category` of the position, and no position has been repeated.
 */
type BetterMove = (uci: string) => Promise<TableAnswer<string | undefined>>;

interface CompareOptions extends ProbeOptions {
  /** In UCI. If empty, all legal moves are allowed. */
  readonly allowed?: readonly string[];
}

interface ProbeOptions {
  /** Awaited between moves, so that many probes do not block the event loop. */
  readonly turn?: () => Promise<void>;
  /**
   * If it is aborted while a table is being verified, the answer is the miss `unverified_table`. Then all tables that the position
   * needs are verified, although nobody waits for them, so that a later look-up finds them.
   */
  readonly signal?: AbortSignal;
}

export type TableAnswer<T> = { readonly kind: "known"; readonly value: T } | UnknownPosition;

export interface UnknownPosition {
  readonly kind: "miss";
  readonly reason: MissReason;
  /** In lower case and without a full stop. Contains the path of a file that is unusable. */
  readonly message: string;
  /** For how many milliseconds the tables of these pieces are already being verified, if they are. */
  readonly verifyingMs?: number;
}

/** Opens the tables in these folders. A folder that cannot be read is a problem, and the others are used. */
export async function openTablebase(
  folders: readonly string[],
  options: FilesOptions = {},
): Promise<Tablebase> {
  const files = await openFiles(folders, options);
  /** By the pieces in a position. */
  const byPieces = new Map<number, { readonly material: Material; readonly isSwapped: boolean }>();
  for (const material of files.listed) {
    byPieces.set(keyOfCodes(material.codes.map((code) => code ^ blackBit)), { material, isSwapped: true });
    byPieces.set(keyOfCodes(material.codes), { material, isSwapped: false });
  }
  const menMax = Math.max(2, ...files.listed.map(({ men }) => men));
  /** When the verification of the tables began, by the pieces in a position. */
  const verifyingSince = new Map<number, number>();

  function tablesFor({ turn = async () => {}, signal }: ProbeOptions): Tables {
    return {
      turn,
      async open({ board }, kind) {
        const found = byPieces.get(keyOfBoard(board));
        if (!found) {
          const pieces = `${piecesOf(board, "white")}v${piecesOf(board, "black")}`;
          throw new TableMiss("no_table", `there is no table of ${pieces}`);
        }
        const { material, isSwapped } = found;
        const { layout, read, reject } = await files.open(material.name, kind, signal);
        return { layout, read, reject, isSymmetric: material.isSymmetric, isSwapped };
      },
    };
  }

  /** Without a table, finished games and bare kings are known. */
  function requireKnown({ board: { board, castles }, terminal }: Position): void {
    if (terminal) {
      return;
    }
    if (board.occupied.size() > menMax) {
      throw new TableMiss("too_many_men", `the largest table has ${menMax} men`);
    }
    if (castles.castlingRights.nonEmpty()) {
      throw new TableMiss("castling_rights", "tables have no positions with castling rights");
    }
  }

  async function answerOf<T>({ board }: Position, find: () => Promise<T>): Promise<TableAnswer<T>> {
    try {
      return { kind: "known", value: await find() };
    } catch (error) {
      if (error instanceof TableMiss) {
        const { reason, message } = error;
        const miss = { kind: "miss", reason, message } as const;
        return reason === "unverified_table" ? { ...miss, verifyingMs: verifyAll(board) } : miss;
      }
      throw error;
    }
  }

  /** Looks up all moves, so that each table that they need is verified. Returns for how long this has been running. */
  function verifyAll(board: Chess): number {
    const pieces = keyOfBoard(board.board);
    const since = verifyingSince.get(pieces);
    if (since !== undefined) {
      return now() - since;
    }
    verifyingSince.set(pieces, now());
    const tables = tablesFor({ turn: nextTurn });
    evaluate(board, tables)
      .then((evaluation) => rankMoves(board, noOccurrences, evaluation, tables))
      // Ignore the failure: a look-up that somebody waits for fails too, and reports the failure.
      .catch(() => {})
      .finally(() => verifyingSince.delete(pieces));
    return 0;
  }

  return {
    summary() {
      const materials = files.materials();
      return materials.length === 0
        ? undefined
        : {
            men: Math.max(...materials.map(({ men }) => men)),
            tables: materials.length,
            digest: files.digest(),
          };
    },
    mayKnow({ board: { board, castles } }) {
      return board.occupied.size() <= menMax && castles.castlingRights.isEmpty();
    },
    probe: (position, probeOptions = {}) =>
      answerOf(position, async () => {
        requireKnown(position);
        return resultFrom(position.board, await evaluatePosition(position, tablesFor(probeOptions)));
      }),
    probeMoves: (position, probeOptions = {}) =>
      answerOf(position, async () => {
        requireKnown(position);
        const tables = tablesFor(probeOptions);
        const evaluation = await evaluatePosition(position, tables);
        const ranked = position.terminal
          ? []
          : await rankMoves(position.board, await occurrencesIn(position, tables), evaluation, tables);
        return {
          result: resultFrom(position.board, evaluation),
          moves: ranked.map((move) => tableMoveFrom(position, move)),
        };
      }),
    compareMoves(position, known, { allowed = [], ...probeOptions } = {}) {
      const { board, chess960 } = position;
      const tables = tablesFor(probeOptions);
      let history: Promise<Occurrences> | undefined;
      let ranking: Promise<readonly RankedMove[]> | undefined;
      return (uci) =>
        answerOf(position, async () => {
          requireKnown(position);
          history ??= occurrencesIn(position, tables);
          const occurrences = await history;
          const isHurried = occurrences.hasRepeated && known.category === "win";
          const move = isHurried ? undefined : moveFromText(board, uci);
          if (move && keepsResult(await evaluateMove(board, move, occurrences, tables), known)) {
            return undefined;
          }
          const uciOf = (one: RankedMove) => uciFromMove(board, one.move, chess960);
          ranking ??= rankMoves(board, occurrences, known, tables);
          const ranked = await ranking;
          const own = ranked.find((one) => uciOf(one) === uci);
          const best = ranked.find((one) => allowed.length === 0 || allowed.includes(uciOf(one)));
          const isBetter =
            own && best && (hasBetterResult(best, own) || (isHurried && isShorterWin(best, own)));
          return isBetter ? uciOf(best) : undefined;
        });
    },
    [Symbol.asyncDispose]: () => files[Symbol.asyncDispose](),
  };
}

const noOccurrences: Occurrences = { occurrencesOf: () => 0, hasRepeated: false };

/** Also heeds draws that only the history of the game shows. */
async function evaluatePosition({ board, terminal }: Position, tables: Tables): Promise<Evaluation> {
  const isDraw = terminal !== undefined && terminal.winner === undefined;
  return isDraw ? { result: 0, distance: 0, category: "draw" } : evaluate(board, tables);
}

function resultFrom({ board, turn }: Chess, { category, distance }: Evaluation): TableResult {
  const opponent = turn === "white" ? "black" : "white";
  return {
    category,
    winner: category === "win" ? turn : category === "loss" ? opponent : undefined,
    dtzPlies: pliesFrom(distance),
    men: board.occupied.size(),
  };
}

const pliesFrom = (distance: number) => (distance === 0 ? undefined : Math.abs(distance));

function tableMoveFrom({ board, chess960 }: Position, ranked: RankedMove): TableMove {
  const { move, san, evaluation, zeroing, repetition } = ranked;
  return {
    uci: uciFromMove(board, move, chess960),
    san,
    category: evaluation.category,
    dtzPlies: pliesFrom(evaluation.distance),
    zeroing,
    checkmate: evaluation.end === "checkmate",
    stalemate: evaluation.end === "stalemate",
    repetition,
  };
}

async function occurrencesIn({ root, moves, chess960 }: Position, tables: Tables): Promise<Occurrences> {
  const chess = Chess.fromSetup(parseFen(root).unwrap()).unwrap();
  const history = trackHistory(chess, chess960);
  for (const uci of moves) {
    await tables.turn();
    const move = moveFromText(chess, uci);
    if (move) {
      chess.play(move);
      history.add(uci);
    }
  }
  return history;
}
