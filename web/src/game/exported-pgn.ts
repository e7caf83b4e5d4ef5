import { type Game, type GameNode, joinChildren, nodesOf } from "./game.ts";
import { gameFromPgn, pgnOfGame } from "./pgn.ts";

/** A game that the page sent to a review, and the PGN that the service returned. */
export interface ReviewedGame {
  readonly sent: ReadonlyMap<string, GameNode>;
  readonly made: Game;
  readonly pgn: string;
}

/** Returns undefined if a PGN is invalid. */
export function reviewedGame(sent: string, pgn: string): ReviewedGame | undefined {
  const [before, made] = [gameFromPgn(sent), gameFromPgn(pgn)];
  return before.kind === "game" && made.kind === "game"
    ? { sent: new Map(nodesOf(before.game).map((node) => [node.id, node])), made: made.game, pgn }
    : undefined;
}

/** Writes a game with the remarks and best lines of its review. The user may have changed the game after the review. */
export function exportedPgn(game: Game, reviewed: ReviewedGame | undefined): string {
  if (reviewed === undefined) {
    return pgnOfGame(game);
  }
  const { made, sent } = reviewed;
  const pgn = pgnOfGame({ ...game, start: withRemarks(game.start, made.start, sent) });
  return pgn === pgnOfGame(made) ? reviewed.pgn : pgn;
}

/** `made` is the same node in the PGN of the review. */
function withRemarks(node: GameNode, made: GameNode, sent: ReviewedGame["sent"]): GameNode {
  const [judged] = made.children;
  // The best lines belong to the judged move. A line that the user has deleted does not come back.
  const isThere = node.children.some(({ id }) => id === judged?.id);
  const lines = made.children.filter(({ id }) => isThere && !sent.has(id));
  const children = joinChildren(node.children, lines, (child) => child).map((child) => {
    const same = made.children.find(({ id }) => id === child.id);
    return same ? withRemarks(child, same, sent) : child;
  });
  const { comments = [], nags = [] } = sent.get(node.id) ?? {};
  if (String(comments) === String(node.comments) && String(nags) === String(node.nags)) {
    return { ...node, comments: made.comments, nags: made.nags, children };
  }
  // The user has changed the remarks, so add only what the review has added.
  const added = made.comments.filter((comment) => !comments.includes(comment));
  const evaluated = added.map((comment) => /^\[%eval [^\]]*\]/.exec(comment)?.[0] ?? comment);
  const isJudged = node.nags.some((nag) => nag <= 6);
  const judgement = isJudged ? [] : made.nags.filter((nag) => !nags.includes(nag));
  return {
    ...node,
    comments: [...evaluated, ...node.comments],
    nags: [...judgement, ...node.nags],
    children,
  };
}
