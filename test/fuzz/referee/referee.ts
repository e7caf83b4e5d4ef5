import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { pythonWithChess } from "../../support/python-chess/python-with-chess.ts";

/** A FEN, and whether it is asked to be Chess960. */
export type Question = readonly [fen: string, chess960: boolean];

/** The outcomes that end a game on the board. Clocks are ignored. */
type BoardOutcome = "checkmate" | "stalemate" | "insufficient_material";

/**
 * `undefined` where the text is no FEN. `status` are the bits of python-chess's `Board.status()`; `playable` is there
 * where moves can be counted, after a bad en passant square and bad castling rights were taken away.
 */
export interface Verdict {
  readonly status: number;
  readonly playable: { fen: string; legalCount: number; outcome: BoardOutcome | undefined } | undefined;
}

/** A position of a game that was played by the rules; the question is one of the ways to write it. */
export interface GamePosition {
  readonly question: Question;
  readonly verdict: Verdict;
}

/** The positions that moves lead to. */
interface PlayedLine {
  /** Ends before the first move that is not legal. */
  readonly san: readonly string[];
  readonly fen: string;
  readonly checkmate: boolean;
}

/** python-chess in a process of its own. It shares no line with what Kibitz plays by. */
export interface Referee extends Disposable {
  judge(questions: readonly Question[]): Promise<readonly (Verdict | undefined)[]>;
  /** Positions of random games, Chess960 among them, rich in castling, en passant and promotions. */
  playGames(seed: number, count: number): Promise<readonly GamePosition[]>;
  /** Positions where one side may mate soon. */
  setUpMatings(seed: number, count: number): Promise<readonly GamePosition[]>;
  playLines(
    lines: readonly (readonly [fen: string, chess960: boolean, ucis: readonly string[]])[],
  ): Promise<readonly PlayedLine[]>;
  /** Returns true if mate in so many moves (+ for White) can be forced; `undefined` if `nodes` are too few to know. */
  proveMate(fen: string, chess960: boolean, mate: number, nodes: number): Promise<boolean | undefined>;
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
  // `answers` reports the end of the process to the caller.
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

/** The answers, in the order of the questions. */
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
