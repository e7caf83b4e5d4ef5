import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { pythonWithChess } from "../../support/python-chess/python-with-chess.ts";

export type Question = readonly [fen: string, chess960: boolean];

/** Outcomes that are determined by the pieces on the board, and not by the move counters. */
type BoardOutcome = "checkmate" | "stalemate" | "insufficient_material";

/**
 * The result of python-chess for a valid FEN. `status` has the bits of `Board.status()`. `playable` describes the position
 * without a wrong en passant square and wrong castling rights.
 */
export interface Verdict {
  readonly status: number;
  readonly playable: { fen: string; legalCount: number; outcome: BoardOutcome | undefined } | undefined;
}

/** A position from a legal game. `question` is a FEN of this position, perhaps in an unusual notation. */
export interface GamePosition {
  readonly question: Question;
  readonly verdict: Verdict;
}

interface PlayedLine {
  /** The moves before the first illegal move. */
  readonly san: readonly string[];
  readonly fen: string;
  readonly checkmate: boolean;
}

/** Runs python-chess in another process. python-chess shares no code with Kibitz. */
export interface Referee extends Disposable {
  judge(questions: readonly Question[]): Promise<readonly (Verdict | undefined)[]>;
  /** Returns positions from random games, also of Chess960. Castling, en passant and promotions are frequent. */
  playGames(seed: number, count: number): Promise<readonly GamePosition[]>;
  /** Returns positions in which a mate is near. */
  setUpMatings(seed: number, count: number): Promise<readonly GamePosition[]>;
  playLines(
    lines: readonly (readonly [fen: string, chess960: boolean, ucis: readonly string[]])[],
  ): Promise<readonly PlayedLine[]>;
  /**
   * Returns true if a side can force a mate in `mate` moves. If `mate` is negative, this side is Black. Returns undefined if
   * the proof needs more than `nodes` nodes.
   */
  proveMate(fen: string, chess960: boolean, mate: number, nodes: number): Promise<boolean | undefined>;
  /** Returns random positions with the pieces of a Syzygy table, such as `KQvKR`. */
  setUpEndings(folder: string, name: string, seed: number, count: number): Promise<readonly Ending[]>;
  /** Returns every position of a table of three men with White's king on this square. */
  listEndings(folder: string, name: string, king: number): Promise<readonly Ending[]>;
  /**
   * Returns the move that delays the next capture or pawn move longest, in UCI. Returns undefined if the game is over, or if the
   * side to move can claim a draw by the fifty-move rule.
   */
  defend(folder: string, fen: string): Promise<string | undefined>;
}

/** What Syzygy tables say of a position if its half-move clock is 0. */
export interface Ending {
  readonly fen: string;
  /** From -2 (a loss) to 2 (a win) for the side to move. */
  readonly result: number;
  readonly distance: number;
}

const folder = fileURLToPath(new URL(".", import.meta.url));

type RawVerdict =
  | readonly [status: number, fen?: string, legalCount?: number, outcome?: BoardOutcome | null]
  | null;

export function startReferee(): Referee {
  const child = spawn(pythonWithChess(), [join(folder, "referee.py")], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const answers = answersOf(child);
  // The caller learns of the end of the process from `answers`.
  child.stdin.on("error", () => {});
  const ask = async (...question: readonly unknown[]): Promise<unknown> => {
    child.stdin.write(`${JSON.stringify(question)}\n`);
    return answers.next();
  };
  const positionsOf = async (...question: readonly unknown[]): Promise<readonly GamePosition[]> => {
    const found = (await ask(...question)) as [string, boolean, RawVerdict][];
    return found.map(([fen, chess960, raw]) => {
      const verdict = verdictFromRaw(raw);
      if (verdict === undefined) {
        throw new Error(`the referee came to what is no FEN: ${fen}`);
      }
      return { question: [fen, chess960], verdict };
    });
  };
  const endingsOf = async (...question: readonly unknown[]): Promise<readonly Ending[]> => {
    const found = (await ask(...question)) as [string, number, number][];
    return found.map(([fen, result, distance]) => ({ fen, result, distance }));
  };
  return {
    async judge(questions) {
      return ((await ask("judge", questions)) as RawVerdict[]).map(verdictFromRaw);
    },
    playGames: (seed, count) => positionsOf("games", seed, count),
    setUpMatings: (seed, count) => positionsOf("mating", seed, count),
    async playLines(lines) {
      const played = (await ask("lines", lines)) as [number, string[], string, boolean][];
      return played.map(([, san, fen, checkmate]) => ({ san, fen, checkmate }));
    },
    setUpEndings: (...wanted) => endingsOf("endings", ...wanted),
    listEndings: (...wanted) => endingsOf("endings_with_king_on", ...wanted),
    async defend(...position) {
      return ((await ask("defend", ...position)) as string | null) ?? undefined;
    },
    async proveMate(...claim) {
      return ((await ask("prove", ...claim)) as boolean | null) ?? undefined;
    },
    [Symbol.dispose]() {
      child.stdin.end();
    },
  };
}

function verdictFromRaw(raw: RawVerdict): Verdict | undefined {
  if (raw === null) {
    return undefined;
  }
  const [status, fen, legalCount, outcome] = raw;
  const playable = fen !== undefined && legalCount !== undefined;
  return { status, playable: playable ? { fen, legalCount, outcome: outcome ?? undefined } : undefined };
}

function answersOf(child: ChildProcess & { stdout: NodeJS.ReadableStream }): { next(): Promise<unknown> } {
  const waiting: PromiseWithResolvers<unknown>[] = [];
  let ended: Error | undefined;
  createInterface({ input: child.stdout, crlfDelay: Number.POSITIVE_INFINITY }).on("line", (line) =>
    waiting.shift()?.resolve(JSON.parse(line)),
  );
  child.on("exit", (code) => {
    ended = new Error(`the referee ended with ${code}`);
    for (const { reject } of waiting) {
      reject(ended);
    }
  });
  return {
    next() {
      if (ended) {
        return Promise.reject(ended);
      }
      const answer = Promise.withResolvers<unknown>();
      waiting.push(answer);
      return answer.promise;
    },
  };
}
