import { Chess } from "chessops/chess";
import { parseFen } from "chessops/fen";
import { makeSan } from "chessops/san";
import { trackHistory } from "../chess/history.ts";
import { moveFromText, uciFromMove } from "../chess/moves.ts";
import type { Color, Position } from "../chess/position.ts";
import { type FilesOptions, openFiles } from "./files.ts";
import { type Material, piecesOf } from "./material.ts";
import { type MissReason, TableMiss } from "./miss.ts";
import type { Category } from "./outcome.ts";
import type { Tables } from "./probe.ts";
import { type Evaluation, evaluate, type RankedMove, rankMoves } from "./rank-moves.ts";

/** Exact results of positions with few men, from Syzygy tables. */
export interface Tablebase extends AsyncDisposable {
  /** Undefined if there is no table. */
  summary(): TablesSummary | undefined;
  /** False if no table can know the position. Reads no file. */
  mayKnow(position: Position): boolean;
  probe(position: Position, options?: ProbeOptions): Promise<TableAnswer<TableResult>>;
  /** Also probes each legal move, and lists the best move first. A move that makes a draw by repetition counts as a draw. */
  probeMoves(position: Position, options?: ProbeOptions): Promise<TableAnswer<TableMoves>>;
}

interface TablesSummary {
  /** The number of men of the largest table. */
  readonly men: number;
  readonly tables: number;
  /** The SHA-256 of what stands for the content of all tables, in hex. */
  readonly digest: string;
}

interface ProbeOptions {
  /** Awaited between moves, so that many probes do not block the event loop. */
  readonly turn?: () => Promise<void>;
  /** If it is aborted while a table is being verified, the answer is the miss `unverified_table`. */
  readonly signal?: AbortSignal;
}

type TableAnswer<T> =
  | { readonly kind: "known"; readonly value: T }
  | { readonly kind: "miss"; readonly reason: MissReason; readonly message: string };

interface TableResult {
  /** From the point of view of the side to move, with the half-move clock heeded. */
  readonly category: Category;
  /** Undefined for all draws, also those by the fifty-move rule. */
  readonly winner: Color | undefined;
  /**
   * The number of plies to the next capture or pawn move, or to the checkmate. At least 1, and 1 after the checkmate. May be too
   * small by 1. Beyond 100 if the fifty-move rule spoils the result whatever the clock is. Undefined for `draw`.
   */
  readonly dtzPlies: number | undefined;
  readonly men: number;
}

export interface TableMove {
  readonly uci: string;
  readonly san: string;
  /** Of the position after the move, for the side to move there. */
  readonly category: Category;
  readonly dtzPlies: number | undefined;
  /** True for a capture or a pawn move. */
  readonly zeroing: boolean;
  readonly checkmate: boolean;
  readonly stalemate: boolean;
  /** True if the position after the move has occurred twice before, so that either side can claim a draw. */
  readonly repetition: boolean;
}

interface TableMoves {
  readonly result: TableResult;
  readonly moves: readonly TableMove[];
}

/** Opens the tables in these folders. A folder that cannot be read is a problem, and the others are used. */
export async function openTablebase(
  folders: readonly string[],
  options: FilesOptions = {},
): Promise<Tablebase> {
  const files = await openFiles(folders, options);
  /** By the pieces of White and of Black in a position. */
  const byPieces = new Map<string, { readonly material: Material; readonly isSwapped: boolean }>();
  for (const material of files.listed) {
    const [white = "", black = ""] = material.name.split("v");
    byPieces.set(`${black}v${white}`, { material, isSwapped: true });
    byPieces.set(material.name, { material, isSwapped: false });
  }
  const menMax = Math.max(2, ...files.listed.map(({ men }) => men));

  function tablesFor({ turn = async () => {}, signal }: ProbeOptions): Tables {
    return {
      turn,
      async open({ board }, kind) {
        const pieces = `${piecesOf(board, "white")}v${piecesOf(board, "black")}`;
        const found = byPieces.get(pieces);
        if (!found) {
          throw new TableMiss("no_table", `there is no table of ${pieces}`);
        }
        const { material, isSwapped } = found;
        const { layout, read, reject } = await files.open(material.name, kind, signal);
        return { layout, read, reject, isSymmetric: material.isSymmetric, isSwapped };
      },
    };
  }

  function requireKnown({ board, castles }: Chess): void {
    if (board.occupied.size() > menMax) {
      throw new TableMiss("too_many_men", `the largest table has ${menMax} men`);
    }
    if (castles.castlingRights.nonEmpty()) {
      throw new TableMiss("castling_rights", "tables have no positions with castling rights");
    }
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
      answerOf(async () => {
        requireKnown(position.board);
        return resultFrom(position.board, await evaluatePosition(position, tablesFor(probeOptions)));
      }),
    probeMoves: (position, probeOptions = {}) =>
      answerOf(async () => {
        requireKnown(position.board);
        const tables = tablesFor(probeOptions);
        const evaluation = await evaluatePosition(position, tables);
        const ranked = position.terminal
          ? []
          : await rankMoves(position.board, occurrencesIn(position), evaluation, tables);
        return {
          result: resultFrom(position.board, evaluation),
          moves: ranked.map((move) => tableMoveFrom(position, move)),
        };
      }),
    [Symbol.asyncDispose]: () => files[Symbol.asyncDispose](),
  };
}

async function answerOf<T>(find: () => Promise<T>): Promise<TableAnswer<T>> {
  try {
    return { kind: "known", value: await find() };
  } catch (error) {
    if (error instanceof TableMiss) {
      return { kind: "miss", reason: error.reason, message: error.message };
    }
    throw error;
  }
}

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
  const { move, evaluation, zeroing, repetition } = ranked;
  return {
    uci: uciFromMove(board, move, chess960),
    san: makeSan(board, move),
    category: evaluation.category,
    dtzPlies: pliesFrom(evaluation.distance),
    zeroing,
    checkmate: evaluation.end === "checkmate",
    stalemate: evaluation.end === "stalemate",
    repetition,
  };
}

function occurrencesIn({ root, moves, chess960 }: Position): (chess: Chess) => number {
  const chess = Chess.fromSetup(parseFen(root).unwrap()).unwrap();
  const history = trackHistory(chess, chess960);
  for (const uci of moves) {
    const move = moveFromText(chess, uci);
    if (move) {
      chess.play(move);
      history.add(uci);
    }
  }
  return history.occurrencesOf;
}
