import { ChildNode, makePgn, Node, type PgnNodeData } from "chessops/pgn";
import { inOneGo } from "../../../src/chess/in-one-go.ts";
import { standardStart } from "../../../src/chess/read-fen.ts";
import { KibitzError, type Violation } from "../../../src/errors/errors.ts";
import { moveOfPgn, gameFromPgn as playPgn } from "../../../src/game/game.ts";
import { withoutJudgements, withoutLines } from "../../../src/game/old-judgement.ts";
import { readSentGame } from "../../../src/game/read-sent-game.ts";
import {
  childOf,
  type Game,
  type GameNode,
  joinChildren,
  mainlineOf,
  type PlayedLine,
  playLine,
  resultOf,
  startNode,
} from "./game.ts";

export type PgnReading =
  | { readonly kind: "game"; readonly game: Game }
  /** The service reports the same violations for this PGN. */
  | {
      readonly kind: "violations";
      readonly violations: readonly Violation[];
      /** A valid PGN, for example with only the moves before the error. */
      readonly suggestedPgn: string | undefined;
    };

/** Omits the rest of a variation after an illegal move, and adds a warning. */
export function gameFromPgn(text: string): PgnReading {
  try {
    return { kind: "game", game: readGame(text) };
  } catch (error) {
    if (error instanceof KibitzError) {
      const { violations } = error;
      return { kind: "violations", violations, suggestedPgn: suggestionOf(violations) };
    }
    throw error;
  }
}

function suggestionOf([violation]: readonly Violation[]): string | undefined {
  const [suggestion]: unknown[] = Array.isArray(violation?.allowed?.examples)
    ? violation.allowed.examples
    : [];
  return typeof suggestion === "string" ? suggestion : undefined;
}

function readGame(text: string): Game {
  const played = inOneGo(playPgn(inOneGo(readSentGame(text))));
  const [first, ...after] = played.positions;
  if (first === undefined) {
    throw new Error("a game has a start");
  }
  const cut: string[] = [];

  /** Adds the children of `node`. The first child is the move `index` of `line`, which contains the played moves. */
  function withLines(node: GameNode, written: Node<PgnNodeData>, line: Line, index: number): GameNode {
    let children: readonly GameNode[] = [];
    for (const child of written.children) {
      const made =
        child === written.children[0]
          ? nodeFrom(node, child, line, index)
          : nodeFrom(node, child, playLine(node.position, sansFrom(child), moveOfPgn), 0);
      children = joinChildren(children, made ? [made] : [], merged);
    }
    return { ...node, children };
  }

  function nodeFrom(
    parent: GameNode,
    written: ChildNode<PgnNodeData>,
    { moves, positions }: Line,
    index: number,
  ): GameNode | undefined {
    const { san, startingComments = [], comments = [], nags = [] } = written.data;
    const [move, position] = [moves[index], positions[index]];
    if (move === undefined || position === undefined) {
      cut.push(san);
      return undefined;
    }
    const node = { ...childOf(parent, move, position), startingComments, comments, nags };
    return withLines(node, written, { moves, positions }, index + 1);
  }

  const start = { ...startNode(first), comments: played.tree.comments ?? [] };
  const tree = withLines(start, played.tree.moves, { moves: played.moves, positions: after }, 0);
  const warnings = cut.map((san) => ({
    code: "pgn_corrected" as const,
    field: "pgn" as const,
    message: `A variation was cut before '${san}', which is not a legal move there.`,
  }));
  const { tags, result } = played;
  return { tags, start: tree, result, warnings: [...played.warnings, ...warnings] };
}

type Line = Pick<PlayedLine, "moves" | "positions">;

function sansFrom(first: ChildNode<PgnNodeData>): readonly string[] {
  const sans = [first.data.san];
  for (let [next] = first.children; next; [next] = next.children) {
    sans.push(next.data.san);
  }
  return sans;
}

function merged(first: GameNode, second: GameNode): GameNode {
  return {
    ...first,
    comments: [...first.comments, ...second.comments],
    nags: [...first.nags, ...second.nags],
    children: joinChildren(first.children, second.children, merged),
  };
}

/** Omits the tags if the game has no tags and begins at the standard start position. */
export function pgnOfGame(game: Game): string {
  const { start, tags } = game;
  const { fen, chess960 } = start.position;
  const result = resultOf(game);
  const headers = new Map(tags);
  if (fen !== standardStart) {
    headers.set("FEN", fen).set("SetUp", "1");
  }
  if (chess960) {
    headers.set("Variant", "Chess960");
  }
  if (headers.size > 0) {
    headers.set("Result", result);
  }
  const text = makePgn({ headers, comments: [...start.comments], moves: withMoves(new Node(), start) });
  // Without a `Result` tag, chessops writes `*`.
  return `${text.trimEnd().replace(/\*$/, result)}\n`;
}

export function mainlinePgn(game: Game): string {
  const bare = mainlineOf(game).reduceRight<GameNode | undefined>(
    (child, node) => ({ ...node, comments: [], nags: [], children: child ? [child] : [] }),
    undefined,
  );
  return pgnOfGame({ ...game, start: bare ?? game.start });
}

/** Removes the variations that an earlier review added to the game. */
export function withoutOldLines(game: Game): Game {
  return { ...game, start: withoutLinesAfter(game.start) };
}

/** Returns the NAGs without those that belong to the comments of an earlier review. */
export function ownNags(node: GameNode): readonly number[] {
  return withoutJudgements(dataOf(node), undefined).data.nags ?? [];
}

function withoutLinesAfter(node: GameNode): GameNode {
  const [next, ...variations] = node.children;
  if (next === undefined) {
    return node;
  }
  const { judgements } = withoutJudgements(dataOf(next), undefined);
  const written = variations.map(writtenFrom);
  const kept = withoutLines(written, judgements);
  const others = variations.filter((_, at) => kept.some((line) => line === written[at]));
  return { ...node, children: [withoutLinesAfter(next), ...others] };
}

function withMoves<T extends Node<PgnNodeData>>(into: T, { children }: GameNode): T {
  into.children = children.map(writtenFrom);
  return into;
}

function writtenFrom(node: GameNode): ChildNode<PgnNodeData> {
  return withMoves(new ChildNode(dataOf(node)), node);
}

function dataOf({ move, startingComments, comments, nags }: GameNode): PgnNodeData {
  return {
    san: move?.san ?? "",
    startingComments: [...startingComments],
    comments: [...comments],
    nags: [...nags],
  };
}
