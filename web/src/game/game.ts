import { inOneGo } from "../../../src/chess/in-one-go.ts";
import type { MoveDescription } from "../../../src/chess/moves.ts";
import { playGame, pliesMax } from "../../../src/chess/play-game.ts";
import type { Position, PositionViolation, Validation, Warning } from "../../../src/chess/position.ts";
import { validatePosition } from "../../../src/chess/validate-position.ts";
import { withoutJudgement } from "../../../src/game/old-judgement.ts";
import type { Result } from "../../../src/game/read-word.ts";

/** A move of a game, or the start of the game. Immutable: an edit makes new nodes on the path to the start. */
export interface GameNode {
  /** The moves from the start in UCI, joined by spaces; empty for the start. No edit changes it. */
  readonly id: string;
  /** The number of moves from the start. */
  readonly ply: number;
  readonly position: Position;
  /** Undefined for the start. */
  readonly move: MoveDescription | undefined;
  /** The comments before the first move of a variation. */
  readonly startingComments: readonly string[];
  /** The comments after the move, with commands such as `[%clk 0:03:00]`. */
  readonly comments: readonly string[];
  readonly nags: readonly number[];
  /** The first child continues the line; the others are variations. */
  readonly children: readonly GameNode[];
}

/** A tree of legal moves. */
export interface Game {
  readonly tags: ReadonlyMap<string, string>;
  readonly start: GameNode;
  /** The result in the PGN; `*` if there is none. See {@link resultOf}. */
  readonly result: Result;
  /** The corrections of the FEN or the PGN. */
  readonly warnings: readonly Warning[];
}

/** A game from a FEN. `refused` explains the first illegal move: that move and the moves after it are not played. */
export type FenReading =
  | { readonly kind: "game"; readonly game: Game; readonly refused: PositionViolation | undefined }
  | {
      readonly kind: "violations";
      readonly violations: readonly PositionViolation[];
      readonly suggestedFen: string | undefined;
    };

/**
 * Returns the comments on a move as people read them: without commands such as `[%clk 0:05:00]`, and without the judgements of earlier
 * analyses if the move has been reviewed since.
 */
export function commentTexts(comments: readonly string[], isReviewed = false): readonly string[] {
  return comments
    .map((comment) => (isReviewed ? withoutJudgement(comment) : comment))
    .map((comment) => comment.replaceAll(/\[%[a-z]\w*\s[^\]]*\]/gi, "").trim())
    .filter((text) => text !== "");
}

/** Reads a FEN and plays moves in UCI or SAN. */
export function gameFromFen(fen: string, moves: readonly string[] = []): FenReading {
  const reading = readStart(fen);
  if (reading.kind === "violations") {
    const { violations, suggested } = reading;
    // A FEN without the moves behind it is another position.
    return { kind: "violations", violations, suggestedFen: suggested?.moves ? undefined : suggested?.fen };
  }
  const { position } = reading;
  const game: Game = {
    tags: new Map(),
    start: startNode(position),
    result: "*",
    warnings: position.warnings.filter(isCorrection),
  };
  const played = play(game, game.start, moves);
  return { kind: "game", game: played.game, refused: played.refused };
}

/**
 * Validates a FEN. If only Chess960 explains castling rights that are written `KQkq` (X-FEN), the position is Chess960.
 */
function readStart(fen: string): Validation {
  const standard = validatePosition({ fen, moves: [], chess960: false });
  if (standard.kind === "position" && !losesRights(standard.position)) {
    return standard;
  }
  const chess960 = validatePosition({ fen, moves: [], chess960: true });
  return chess960.kind === "position" && !losesRights(chess960.position) ? chess960 : standard;
}

function losesRights({ warnings }: Position): boolean {
  return warnings.some(({ code }) => code === "castling_rights_removed");
}

/** Warnings about the clocks of a FEN do not concern the page, which asks with the moves. */
function isCorrection({ code }: Warning): boolean {
  return code !== "no_history" && code !== "fifty_move_horizon";
}

export function startNode(position: Position): GameNode {
  return { ...withoutRemarks, id: "", ply: 0, position, move: undefined, children: [] };
}

const withoutRemarks = { startingComments: [], comments: [], nags: [] } as const;

/** Moves that were played after a position. */
export interface PlayedLine {
  readonly moves: readonly MoveDescription[];
  /** The position after each move. */
  readonly positions: readonly Position[];
  /** Explains the first illegal move; undefined if all moves were played. */
  readonly refused: PositionViolation | undefined;
}

/** Plays moves in UCI or SAN after a position, whose history counts for repetitions. */
export function playLine(
  position: Position,
  texts: readonly string[],
  readMove?: Parameters<typeof playGame>[3],
): PlayedLine {
  const start = validatePosition({ fen: position.root, moves: [], chess960: position.chess960 });
  if (start.kind === "violations") {
    throw new Error(`the position ${position.root} is not valid`);
  }
  const positions: Position[] = [];
  const all = [...position.moves, ...texts];
  const slices = playGame(start.position, all, (after) => positions.push(after), readMove);
  const { moves, refused } = inOneGo(slices);
  const had = position.moves.length;
  const index = moves.length - had;
  const violation: PositionViolation | undefined =
    refused === undefined
      ? undefined
      : { code: "illegal_move", field: "moves", index, message: `'${texts[index]}' ${refused}.` };
  return { moves: moves.slice(had), positions: positions.slice(had), refused: violation };
}

/** A game after moves were played, and the node of the last legal one. */
export interface Played {
  readonly game: Game;
  readonly at: GameNode;
  /** Explains the first illegal move: that move and the moves after it are not played. */
  readonly refused: PositionViolation | undefined;
}

/** Plays moves after a node. A move that the node has is followed; another move becomes its last variation. */
export function play(game: Game, after: GameNode, texts: readonly string[]): Played {
  const { moves, positions, refused } = playLine(after.position, texts.slice(0, pliesMax - after.ply));
  const path = pathTo(game, after.id);
  const added = addLine(path.at(-1) ?? game.start, moves, positions);
  const edited = added === after ? game : withNode(game, path.slice(0, -1), added);
  const id = [after.id, ...moves.map(({ uci }) => uci)].join(" ").trim();
  return { game: edited, at: nodeOf(edited, id), refused };
}

/** Adds a line of moves to a node. Returns the same node if it has them all. */
function addLine(
  node: GameNode,
  moves: readonly MoveDescription[],
  positions: readonly Position[],
): GameNode {
  const [move, ...nextMoves] = moves;
  const [position, ...nextPositions] = positions;
  if (move === undefined || position === undefined) {
    return node;
  }
  const known = node.children.find((child) => child.move?.uci === move.uci);
  const child = known ?? childOf(node, move, position);
  const added = addLine(child, nextMoves, nextPositions);
  return added === known ? node : withChild(node, added);
}

/** A node for a move after another node, without children. */
export function childOf({ id, ply }: GameNode, move: MoveDescription, position: Position): GameNode {
  return { ...withoutRemarks, id: `${id} ${move.uci}`.trim(), ply: ply + 1, position, move, children: [] };
}

/** Makes a node the first child of its parent; if it is that already, does so with its nearest ancestor that is not. */
export function promote(game: Game, { id }: GameNode): Game {
  const path = pathTo(game, id);
  const index = path.findLastIndex((node, at) => at > 0 && path[at - 1]?.children[0] !== node);
  const [node, parent] = [path[index], path[index - 1]];
  if (node === undefined || parent === undefined) {
    return game;
  }
  const children = [node, ...parent.children.filter((child) => child !== node)];
  return withNode(game, path.slice(0, index - 1), { ...parent, children });
}

/** Removes a node and all that follows it. The start stays. */
export function remove(game: Game, { id }: GameNode): Game {
  const path = pathTo(game, id);
  const parent = path.at(-2);
  if (parent === undefined) {
    return game;
  }
  const children = parent.children.filter((child) => child.id !== id);
  return withNode(game, path.slice(0, -2), { ...parent, children });
}

/** The nodes from the start to a node. If there is no such node, the path ends with its last ancestor that exists. */
export function pathTo({ start }: Game, id: string): readonly GameNode[] {
  const path = [start];
  const isOnPath = (child: GameNode) => id === child.id || id.startsWith(`${child.id} `);
  for (let node = start.children.find(isOnPath); node; node = node.children.find(isOnPath)) {
    path.push(node);
  }
  return path;
}

/** The node with an id, or its last ancestor that exists. */
export function nodeOf(game: Game, id: string): GameNode {
  return pathTo(game, id).at(-1) ?? game.start;
}

/** The nodes that follow a node if its first child is always taken. */
export function lineAfter(node: GameNode): readonly GameNode[] {
  const line: GameNode[] = [];
  for (let [child] = node.children; child; [child] = child.children) {
    line.push(child);
  }
  return line;
}

/** The start and the moves of the main line. */
export function mainlineOf({ start }: Game): readonly GameNode[] {
  return [start, ...lineAfter(start)];
}

/** The result in the PGN; if there is none, the result by the rules at the end of the main line. */
export function resultOf(game: Game): Result {
  const last = mainlineOf(game).at(-1) ?? game.start;
  return game.result === "*" ? (last.position.terminal?.result ?? "*") : game.result;
}

/** Replaces the child with the same id, or adds a last one. */
function withChild(parent: GameNode, child: GameNode): GameNode {
  return { ...parent, children: joinChildren(parent.children, [child], (_, edited) => edited) };
}

/** Adds nodes after the same position to others. @param join makes one node of two with the same move */
export function joinChildren(
  children: readonly GameNode[],
  added: readonly GameNode[],
  join: (known: GameNode, added: GameNode) => GameNode,
): readonly GameNode[] {
  const joined = children.map((child) => {
    const same = added.find(({ id }) => id === child.id);
    return same ? join(child, same) : child;
  });
  return [...joined, ...added.filter(({ id }) => children.every((child) => child.id !== id))];
}

/** The game with an edited node. @param ancestors of the node, from the start */
function withNode(game: Game, ancestors: readonly GameNode[], node: GameNode): Game {
  const start = ancestors.reduceRight((child, parent) => withChild(parent, child), node);
  return { ...game, start };
}
