import { inOneGo } from "../../../src/chess/in-one-go.ts";
import type { MoveDescription } from "../../../src/chess/moves.ts";
import { playGame, pliesMax } from "../../../src/chess/play-game.ts";
import type { Position, PositionViolation, Warning } from "../../../src/chess/position.ts";
import { validatePosition, validateStartInSlices } from "../../../src/chess/validate-position.ts";
import { withoutJudgement } from "../../../src/game/old-judgement.ts";
import type { Result } from "../../../src/game/read-word.ts";

/** The start of a game, or a move. Nodes are immutable: an edit creates new nodes on the path to the start. */
export interface GameNode {
  /** All UCI moves from the start, separated by spaces. Empty for the start. */
  readonly id: string;
  readonly ply: number;
  readonly position: Position;
  readonly move: MoveDescription | undefined;
  readonly startingComments: readonly string[];
  /** Comments after the move, including commands such as `[%clk 0:03:00]`. */
  readonly comments: readonly string[];
  readonly nags: readonly number[];
  /** The first child continues the line. Other children are variations. */
  readonly children: readonly GameNode[];
}

export type Remarks = Pick<GameNode, "comments" | "nags">;

export interface Game {
  readonly tags: ReadonlyMap<string, string>;
  readonly start: GameNode;
  /** The result in the PGN, or `*`. */
  readonly result: Result;
  readonly warnings: readonly Warning[];
}

/** `refused` explains the first illegal move. The game contains the moves before the illegal move. */
export type FenReading =
  | { readonly kind: "game"; readonly game: Game; readonly refused: PositionViolation | undefined }
  | {
      readonly kind: "violations";
      readonly violations: readonly PositionViolation[];
      readonly suggestedFen: string | undefined;
    };

/** Removes commands such as `[%clk 0:05:00]`. For a reviewed move, also removes earlier judgements. */
export function commentTexts(comments: readonly string[], isReviewed = false): readonly string[] {
  return comments
    .map((comment) => (isReviewed ? withoutJudgement(comment) : comment))
    .map((comment) => comment.replaceAll(/\[%[a-z]\w*\s[^\]]*\]/gi, "").trim())
    .filter((text) => text !== "");
}

export function gameFromFen(fen: string, moves: readonly string[] = []): FenReading {
  const reading = inOneGo(validateStartInSlices({ fen, moves, chess960: undefined }));
  if (reading.kind === "violations") {
    const { violations, suggested } = reading;
    // Suggest no FEN that needs moves, because the FEN without the moves is another position.
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

/** False for a warning about a missing history, because the page always sends the moves. */
function isCorrection({ code }: Warning): boolean {
  return code !== "no_history" && code !== "fifty_move_horizon";
}

export function startNode(position: Position): GameNode {
  return { ...withoutRemarks, id: "", ply: 0, position, move: undefined, children: [] };
}

const withoutRemarks = { startingComments: [], comments: [], nags: [] } as const;

export interface PlayedLine {
  readonly moves: readonly MoveDescription[];
  readonly positions: readonly Position[];
  /** Explains the first illegal move. */
  readonly refused: PositionViolation | undefined;
}

/** Plays moves in UCI or SAN, and counts repetitions of positions. */
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

interface Played {
  readonly game: Game;
  readonly at: GameNode;
  readonly refused: PositionViolation | undefined;
}

/** Plays moves after a node. An existing move is reused. A new move becomes the last variation. */
export function play(game: Game, after: GameNode, texts: readonly string[]): Played {
  const { moves, positions, refused } = playLine(after.position, texts.slice(0, pliesMax - after.ply));
  const path = pathTo(game, after.id);
  const added = addLine(path.at(-1) ?? game.start, moves, positions);
  const edited = added === after ? game : withNode(game, path.slice(0, -1), added);
  const id = [after.id, ...moves.map(({ uci }) => uci)].join(" ").trim();
  return { game: edited, at: nodeOf(edited, id), refused };
}

/** Returns the same node if all moves exist already. */
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

export function childOf({ id, ply }: GameNode, move: MoveDescription, position: Position): GameNode {
  return { ...withoutRemarks, id: `${id} ${move.uci}`.trim(), ply: ply + 1, position, move, children: [] };
}

/** Replaces the comments or the NAGs of a node. */
export function annotate(game: Game, { id }: GameNode, remarks: Partial<Remarks>): Game {
  const path = pathTo(game, id);
  return withNode(game, path.slice(0, -1), { ...(path.at(-1) ?? game.start), ...remarks });
}

/** Promotes a variation by one level: its first move becomes the first child of its parent. */
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

/** Removes a node and all nodes after it. The start cannot be removed. */
export function remove(game: Game, { id }: GameNode): Game {
  const path = pathTo(game, id);
  const parent = path.at(-2);
  if (parent === undefined) {
    return game;
  }
  const children = parent.children.filter((child) => child.id !== id);
  return withNode(game, path.slice(0, -2), { ...parent, children });
}

/** If `id` is unknown, the path ends at the last known node. */
export function pathTo({ start }: Game, id: string): readonly GameNode[] {
  const path = [start];
  const isOnPath = (child: GameNode) => id === child.id || id.startsWith(`${child.id} `);
  for (let node = start.children.find(isOnPath); node; node = node.children.find(isOnPath)) {
    path.push(node);
  }
  return path;
}

/** If `id` is unknown, returns the last known node on the path. */
export function nodeOf(game: Game, id: string): GameNode {
  return pathTo(game, id).at(-1) ?? game.start;
}

export function lineAfter(node: GameNode): readonly GameNode[] {
  const line: GameNode[] = [];
  for (let [child] = node.children; child; [child] = child.children) {
    line.push(child);
  }
  return line;
}

export function mainlineOf({ start }: Game): readonly GameNode[] {
  return [start, ...lineAfter(start)];
}

/** Returns all nodes, in an order that is the same after the game was written as PGN and read again. */
export function nodesOf({ start }: Game): readonly GameNode[] {
  const nodes: GameNode[] = [];
  const add = (node: GameNode) => {
    nodes.push(node);
    node.children.forEach(add);
  };
  add(start);
  return nodes;
}

/** True if a FEN and a list of moves describe the game completely. */
export function isPlain(game: Game): boolean {
  return (
    game.tags.size === 0 &&
    game.result === "*" &&
    nodesOf(game).every(
      ({ children, startingComments, comments, nags }) =>
        children.length < 2 && startingComments.length + comments.length + nags.length === 0,
    )
  );
}

/** Changes all texts of a game: the values of its tags and its comments. */
export function withTexts(game: Game, change: (text: string) => string): Game {
  const changed = (node: GameNode): GameNode => ({
    ...node,
    startingComments: node.startingComments.map(change),
    comments: node.comments.map(change),
    children: node.children.map(changed),
  });
  const tags = new Map([...game.tags].map(([name, value]) => [name, change(value)]));
  return { ...game, tags, start: changed(game.start) };
}

/** If the PGN has no result, returns the result of the last position. */
export function resultOf(game: Game): Result {
  const last = mainlineOf(game).at(-1) ?? game.start;
  return game.result === "*" ? (last.position.terminal?.result ?? "*") : game.result;
}

function withChild(parent: GameNode, child: GameNode): GameNode {
  return { ...parent, children: joinChildren(parent.children, [child], (_, edited) => edited) };
}

/** `join` merges a child with an added node of the same move. */
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

/** `ancestors` are the nodes from the start to the parent of the changed node. */
function withNode(game: Game, ancestors: readonly GameNode[], node: GameNode): Game {
  const start = ancestors.reduceRight((child, parent) => withChild(parent, child), node);
  return { ...game, start };
}
