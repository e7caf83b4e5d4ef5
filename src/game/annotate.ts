import { ChildNode, extend, type Game as GameTree, Node, type PgnNodeData } from "chessops/pgn";
import { standardStart } from "../chess/read-fen.ts";
import type { ScoreValue } from "../chess/score.ts";
import type { Game } from "./game.ts";
import type { Judgement } from "./judgement.ts";
import { withoutJudgements, withoutLines } from "./old-judgement.ts";
import type { GameReview, MoveReview } from "./review.ts";

const nagOf: Readonly<Record<Judgement, number>> = { mistake: 2, blunder: 4, inaccuracy: 6 };

/** Matches an `[%eval]` command. The length limit keeps the search time linear in the length of the comment. */
const evaluation = /\[%eval\s[^\]]{1,32}\]\s?/g;

/** The generator yields after writing this many tokens, which takes less than a millisecond. */
const tokensAtOnce = 256;

/** Writes a reviewed game as PGN. Replaces the evaluations, judgements and best lines of an earlier analysis. */
export function* annotate(game: Game, review: GameReview): Generator<void, string> {
  const tree = annotatedTree(game, review.moves);
  const header = [...tagsOf(game)].map(
    ([name, value]) => `[${name} "${value.replaceAll(/["\\]/g, "\\$&")}"]\n`,
  );
  const text = [header.join(""), header.length > 0 ? "\n" : ""];
  let tokens: string[] = [];
  for (const token of tokensOf(tree, game.positions[0]?.fen ?? standardStart)) {
    tokens.push(token);
    if (tokens.length === tokensAtOnce) {
      text.push(tokens.join(" "), " ");
      tokens = [];
      yield;
    }
  }
  tokens.push(game.result);
  text.push(tokens.join(" "), "\n");
  return text.join("");
}

function tagsOf({ tags, positions: [start] }: Game): ReadonlyMap<string, string> {
  const all = new Map(tags);
  const add = (name: string, value: string) => all.set(name, all.get(name) ?? value);
  if (start !== undefined && start.fen !== standardStart) {
    add("FEN", start.fen);
    add("SetUp", "1");
  }
  // Other programs know only these names of Chess960.
  if (start?.chess960 && !/^(?:chess ?960|fischerr?andom|fischer random)$/i.test(all.get("Variant") ?? "")) {
    all.set("Variant", "Chess960");
  }
  return all;
}

function annotatedTree(game: Game, moves: readonly MoveReview[]): GameTree<PgnNodeData> {
  const root = new Node<PgnNodeData>();
  let from: Node<PgnNodeData> = game.tree.moves;
  let to = root;
  for (const [index, move] of moves.entries()) {
    const [written, ...variations] = from.children;
    if (written === undefined) {
      throw new Error(`the tree has no move ${index + 1}`);
    }
    const mates = game.positions[index + 1]?.terminal?.reason === "checkmate";
    const { data, judgements } = withoutJudgements(written.data, move.comment);
    const child = new ChildNode<PgnNodeData>(annotated(data, move, mates));
    const line = move.judgement && move.best?.san;
    if (line && variations.some((variation) => beginsWith(variation, line))) {
      to.children = [child, ...variations];
    } else {
      to.children = [child, ...withoutLines(variations, judgements)];
      extend(to, line?.map((san) => ({ san })) ?? []);
    }
    from = written;
    to = child;
  }
  return { ...game.tree, moves: root };
}

function annotated(data: PgnNodeData, move: MoveReview, mates: boolean): PgnNodeData {
  const written = (data.comments ?? []).flatMap((comment) => {
    const kept = comment.includes("[%eval") ? comment.replaceAll(evaluation, "").trim() : comment;
    return kept === "" ? [] : [kept];
  });
  // Lichess writes all commands of a move into one comment.
  const commands = written[0]?.startsWith("[%") ? written.slice(0, 1) : [];
  const evaluated = mates ? [] : [`[%eval ${evaluationText(move.evaluation.value)}]`];
  const first = [...evaluated, ...commands].join(" ");
  const judged = move.comment === undefined ? [] : [move.comment];
  const comments = [...(first === "" ? [] : [first]), ...judged, ...written.slice(commands.length)];
  const nag = move.judgement && nagOf[move.judgement];
  const nags = data.nags ?? [];
  return {
    ...data,
    san: move.move.san,
    comments,
    // If the author has already judged the move with a NAG, the new judgement is only in the comment.
    nags: nag === undefined || nags.some(judgesMove) ? nags : [nag, ...nags],
  };
}

/** The NAGs $1 to $6 judge a move. They mean `!`, `?`, `!!`, `??`, `!?` and `?!`. */
function judgesMove(nag: number): boolean {
  return nag >= 1 && nag <= 6;
}

/** Returns a score in the notation of `[%eval]`, from White's point of view: in pawns, or as the number of moves to mate. */
function evaluationText(value: ScoreValue): string {
  return value.kind === "cp" ? (value.cp / 100).toFixed(2) : `#${value.mate}`;
}

function beginsWith(variation: ChildNode<PgnNodeData>, line: readonly string[]): boolean {
  const sans = [variation.data.san, ...[...variation.mainline()].map(({ san }) => san)];
  return line.every((san, index) => san === sans[index]);
}

/** The recursion cannot overflow the stack, because the nesting depth of variations is at most 100. */
function* tokensOf(tree: GameTree<PgnNodeData>, startFen: string): Generator<string, void> {
  const [, turn, , , , fullmoves] = startFen.split(" ");
  const startPly = (Number(fullmoves) - 1) * 2 + (turn === "b" ? 1 : 0);
  let needsNumber = true;

  function* comments(all: readonly string[] = []): Generator<string, void> {
    for (const comment of all) {
      yield `{ ${comment} }`;
      needsNumber = true;
    }
  }

  function* move({ data }: ChildNode<PgnNodeData>, ply: number): Generator<string, void> {
    yield* comments(data.startingComments);
    if (ply % 2 === 0 || needsNumber) {
      yield `${Math.floor(ply / 2) + 1}${ply % 2 === 0 ? "." : "..."}`;
    }
    needsNumber = false;
    yield data.san;
    for (const nag of data.nags ?? []) {
      yield `$${nag}`;
    }
    yield* comments(data.comments);
  }

  function* movesAfter(from: Node<PgnNodeData>, fromPly: number): Generator<string, void> {
    let ply = fromPly;
    for (
      let [main, ...variations] = from.children;
      main !== undefined;
      [main, ...variations] = main.children
    ) {
      yield* move(main, ply);
      for (const variation of variations) {
        yield "(";
        needsNumber = true;
        yield* move(variation, ply);
        yield* movesAfter(variation, ply + 1);
        yield ")";
        needsNumber = true;
      }
      ply++;
    }
  }

  yield* comments(tree.comments);
  yield* movesAfter(tree.moves, startPly);
}
