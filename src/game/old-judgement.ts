import type { ChildNode, PgnNodeData } from "chessops/pgn";

/** A judgement that Lichess or Kibitz has written into a PGN. */
interface OldJudgement {
  readonly text: string;
  /** The NAGs that an earlier analysis may have written beside the judgement. */
  readonly nags: readonly number[];
  /** The best move in SAN. A variation that begins with it was written, too. */
  readonly best: string | undefined;
}

/** The NAG of each judgement. A lost or allowed forced mate may have any of the three. */
const nagsOf: Readonly<Record<string, readonly number[]>> = { Inaccuracy: [6], Mistake: [2], Blunder: [4] };
const anyNag = [2, 4, 6];

const score = String.raw`(?:[+-]?\d{1,4}\.\d{1,2}|#-?\d{1,3}|Mate in \d{1,3})`;
const verdict =
  "(Inaccuracy|Mistake|Blunder|Checkmate is now unavoidable|Lost forced checkmate sequence|Not the best checkmate sequence)\\.";
const san = String.raw`([a-hKQRBNO][\w=+#-]{1,9})`;
const best = ` (?:${san} was best|(?:The best|Best) move was ${san})\\.`;

/**
 * Matches a judgement with scores, `(0.36 → -0.36) Inaccuracy.`, anywhere in a comment, because people do not write both scores.
 */
const scored = new RegExp(`\\((?:${score} → )?${score}\\) ${verdict}(?:${best})?`);

/** Matches a judgement without scores only if it names the best move and is the whole comment: people write `Mistake.`, too. */
const alone = new RegExp(`^${verdict}${best}$`);

/** Matches a command such as `[%clk]`. The bounded length makes the search linear. */
const commands = /\[%[^\]]{1,64}\]/g;

/** If a judgement equals the new comment, `current`, its NAG stays. */
export function withoutJudgements(
  data: PgnNodeData,
  current: string | undefined,
): { readonly data: PgnNodeData; readonly judgements: readonly OldJudgement[] } {
  const judgements: OldJudgement[] = [];
  const comments = (data.comments ?? []).flatMap((comment) => {
    const judgement = judgementIn(comment);
    if (judgement === undefined) {
      return [comment];
    }
    judgements.push(judgement);
    const rest = withoutJudgement(comment, judgement);
    return rest === "" ? [] : [rest];
  });
  const nags = judgements.filter(({ text }) => text !== current).flatMap((judgement) => judgement.nags);
  return {
    data: { ...data, comments, nags: (data.nags ?? []).filter((nag) => !nags.includes(nag)) },
    judgements,
  };
}

/** Returns a comment without its judgement; empty if it has nothing else. */
export function withoutJudgement(comment: string, judgement = judgementIn(comment)): string {
  return judgement ? comment.replace(judgement.text, "").replaceAll(/ {2,}/g, " ").trim() : comment;
}

function judgementIn(comment: string): OldJudgement | undefined {
  const found = scored.exec(comment) ?? alone.exec(comment.replaceAll(commands, "").trim());
  if (found === null) {
    return undefined;
  }
  const [text, name = "", is, was] = found;
  return { text, nags: nagsOf[name] ?? anyNag, best: is ?? was };
}

/**
 * Removes the line of each judgement: the last variation that begins with its best move and has nothing but moves, because
 * Lichess and Kibitz write only moves into such a line.
 */
export function withoutLines(
  variations: readonly ChildNode<PgnNodeData>[],
  judgements: readonly OldJudgement[],
): readonly ChildNode<PgnNodeData>[] {
  const kept = [...variations];
  for (const { best } of judgements) {
    const index = kept.findLastIndex((variation) => variation.data.san === best && isBare(variation));
    kept.splice(index, index < 0 ? 0 : 1);
  }
  return kept;
}

function isBare(variation: ChildNode<PgnNodeData>): boolean {
  return [variation, ...variation.mainlineNodes()].every(
    ({ data, children }) =>
      children.length < 2 && !data.nags?.length && !data.comments?.length && !data.startingComments?.length,
  );
}
