import { legalUcisOf, moveFromText } from "../../src/chess/moves.ts";
import type { Position } from "../../src/chess/position.ts";
import type { ScoreValue } from "../../src/chess/score.ts";
import { validatePosition } from "../../src/chess/validate-position.ts";

/** What a simulated engine is asked. Equal questions have equal answers, on every engine and every node. */
export interface Question {
  /** Engines with the same name for their answers answer alike. */
  readonly answersOf: string;
  readonly hashMb: number;
  /** As after the command `position`: `fen … moves …`. */
  readonly position: string;
  readonly chess960: boolean;
  readonly multipv: number;
  readonly searchMoves: readonly string[];
}

export interface TrueLine {
  readonly depth: number;
  readonly score: ScoreValue;
  readonly moves: readonly string[];
}

export interface Iteration {
  readonly depth: number;
  readonly seldepth: number;
  /** The nodes of the search so far. */
  readonly nodes: number;
  /** Best first. */
  readonly lines: readonly TrueLine[];
}

/** The answer to a search that only its depth or its nodes ended. */
interface WholeSearch {
  readonly endedBy: "depth" | "nodes";
  /** Undefined if the nodes ended the search before the first iteration was complete. */
  readonly iteration: Iteration | undefined;
  /** What the engine prints when the nodes end the search. Undefined if the engine prints nothing then. */
  readonly unfinished: Iteration | undefined;
  readonly nodes: number;
  readonly bestMove: string;
  readonly ponder: string | undefined;
}

interface Limits {
  readonly depth: number | undefined;
  readonly nodes: number | undefined;
}

export interface Truth {
  /** The nodes of the search until the iteration is complete. */
  nodesAt(depth: number): number;
  iteration(depth: number): Iteration;
  /**
   * What an engine prints if the iteration is interrupted: some lines of the iteration, with odd scores, which are never true,
   * and the other lines of the iteration before.
   */
  unfinished(depth: number, nodes: number, variant: number): Iteration;
  whole(limits: Limits): WholeSearch;
}

/** The largest depth of Stockfish. */
export const deepest = 245;

/** The text after the command `position`. */
export function textOfPosition({ root, moves }: Pick<Position, "root" | "moves">): string {
  return moves.length === 0 ? `fen ${root}` : `fen ${root} moves ${moves.join(" ")}`;
}

/** The same function of `question` in every run. Only remembers the answers of the last questions, to save time. */
export function truthOf(question: Question): Truth {
  const { answersOf, hashMb, position, chess960, multipv, searchMoves } = question;
  const key = `${answersOf}|${hashMb}|${position}|${chess960}|${multipv}|${searchMoves.toSorted().join(" ")}`;
  return remembered(truths, key, () => createTruth(key, question));
}

const truths = new Map<string, Truth>();
const boards = new Map<string, Board>();
const rememberedMax = 5000;

function remembered<T>(known: Map<string, T>, key: string, create: () => T): T {
  const found = known.get(key);
  if (found !== undefined) {
    return found;
  }
  const created = create();
  if (known.size >= rememberedMax) {
    const [oldest] = known.keys();
    known.delete(oldest ?? key);
  }
  known.set(key, created);
  return created;
}

interface Board {
  readonly legal: readonly string[];
  readonly position: Position;
  readonly replies: Map<string, string | undefined>;
}

function boardOf(text: string, chess960: boolean): Board {
  return remembered(boards, `${chess960} ${text}`, () => {
    const [fen = "", moves = ""] = text.replace(/^fen /, "").split(" moves ");
    const validation = validatePosition({ fen, moves: moves.split(" ").filter(Boolean), chess960 });
    if (validation.kind === "violations") {
      throw new Error(`the server sent an engine the wrong position ${text}`);
    }
    const { position } = validation;
    return { legal: legalUcisOf(position).toSorted(), position, replies: new Map() };
  });
}

/** A legal reply to the move, or undefined if the move ends the game. */
function replyTo({ position, replies }: Board, move: string): string | undefined {
  if (!replies.has(move)) {
    const board = position.board.clone();
    const played = moveFromText(board, move);
    if (played) {
      board.play(played);
    }
    const legal = legalUcisOf({ ...position, board });
    replies.set(move, legal[hashOf(move) % legal.length]);
  }
  return replies.get(move);
}

// The positions of the self-test.
const mateInTwo = "fen 7k/8/8/8/8/8/R7/1R4K1 w - - 0 1";
const middleGame = "fen r1bqkb1r/pp3ppp/2n1pn2/2pp4/3P4/2PBPN2/PP3PPP/RNBQK2R w KQkq - 0 6";

/** The number of nodes that the self-test finds. */
export function selfTestNodesOf(answersOf: string, hashMb: number): number {
  const question = { answersOf, hashMb, position: middleGame, chess960: false, multipv: 1, searchMoves: [] };
  return truthOf(question).whole({ depth: 8, nodes: undefined }).nodes;
}

function createTruth(key: string, { position, chess960, multipv, searchMoves }: Question): Truth {
  const board = boardOf(position, chess960);
  const allowed = searchMoves.length > 0 ? searchMoves.toSorted() : board.legal;
  const lineCount = Math.min(multipv, allowed.length);
  const seed = hashOf(key);
  /** Near the end of a game, Stockfish reaches its largest depth within milliseconds. */
  const isNearEnd = position === mateInTwo || mixed(seed, 1) % 40 === 0;
  const baseCp = 2 * ((mixed(seed, 2) % 400) - 200);
  const iterations: Iteration[] = [];
  const nodes: number[] = [0];

  function nodesAt(depth: number): number {
    for (let at = nodes.length; at <= depth; at++) {
      const before = nodes[at - 1] ?? 0;
      const growth = isNearEnd ? 0.01 : 0.25 + (mixed(seed, 1000 + at) % 1000) / 1400;
      nodes.push(at === 1 ? 20 + (seed % 40) : before + Math.max(1, Math.ceil(before * growth)));
    }
    return nodes[depth] ?? 0;
  }

  function movesOf(first: string, depth: number): readonly string[] {
    const reply = depth < 3 ? undefined : replyTo(board, first);
    return reply === undefined ? [first] : [first, reply];
  }

  /** The best moves change with each third iteration. */
  function lineAt(rank: number, depth: number, cp: number): TrueLine {
    const turns = mixed(seed, 3 + Math.floor(depth / 3));
    const move = allowed[(turns + rank) % allowed.length] ?? "";
    return { depth, score: { kind: "cp", cp }, moves: movesOf(move, depth) };
  }

  function iteration(depth: number): Iteration {
    for (let at = iterations.length; at <= depth; at++) {
      const cp = baseCp + 2 * (mixed(seed, 2000 + at) % 20);
      const lines = Array.from({ length: at === 0 ? 0 : lineCount }, (_, rank) =>
        lineAt(rank, at, cp - 12 * rank),
      );
      const first = lines[0];
      if (first && (position === mateInTwo || (isNearEnd && at > 4))) {
        const mate = position === mateInTwo ? 2 : 3 + (seed % 9);
        lines[0] = { ...first, score: { kind: "mate", mate } };
      }
      iterations.push({ depth: at, seldepth: at + (mixed(seed, at) % 6), nodes: nodesAt(at), lines });
    }
    return iterations[depth] as Iteration;
  }

  function unfinished(depth: number, atNodes: number, variant: number): Iteration {
    const isNew = 1 + (variant % lineCount);
    const before = iteration(depth - 1).lines;
    const lines = Array.from({ length: lineCount }, (_, rank) =>
      rank < isNew || before.length === 0
        ? lineAt(rank, depth, baseCp - 12 * rank + 2 * (mixed(seed, variant) % 50) + 1)
        : (before[rank] as TrueLine),
    );
    return { depth, seldepth: depth, nodes: atNodes, lines };
  }

  return {
    nodesAt,
    iteration,
    unfinished,
    whole({ depth = deepest, nodes: nodesMax = Number.POSITIVE_INFINITY }) {
      let reached = 0;
      while (reached < depth && nodesAt(reached + 1) < nodesMax) {
        reached++;
      }
      const last = iteration(reached);
      if (reached === depth) {
        const [bestMove = "", ponder] = last.lines[0]?.moves ?? [];
        const ended = { endedBy: "depth", unfinished: undefined } as const;
        return { ...ended, iteration: last, nodes: last.nodes, bestMove, ponder };
      }
      const complete = reached === 0 ? undefined : last;
      const variant = mixed(seed, 4000 + reached);
      if (complete && variant % 5 === 0) {
        const [bestMove = "", ponder] = last.lines[0]?.moves ?? [];
        const { nodes } = last;
        return { endedBy: "nodes", iteration: complete, unfinished: undefined, nodes, bestMove, ponder };
      }
      const over = Math.floor((nodesMax * (variant % 100)) / 100_000);
      const cut =
        reached === 0
          ? { ...iteration(1), nodes: Math.max(nodesMax, nodesAt(1)) }
          : unfinished(reached + 1, nodesMax + over, variant);
      const [bestMove = "", ponder] = cut.lines[0]?.moves ?? [];
      return { endedBy: "nodes", iteration: complete, unfinished: cut, nodes: cut.nodes, bestMove, ponder };
    },
  };
}

/** A hash of 32 bits (FNV-1a with a final mix). */
export function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  }
  return mixed(hash, text.length);
}

function mixed(seed: number, salt: number): number {
  let hash = Math.imul(seed ^ (salt + 0x9e3779b9), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
