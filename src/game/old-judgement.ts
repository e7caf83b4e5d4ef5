import type { ChildNode, PgnNodeData } from "chessops/pgn";

interface OldJudgement {
  readonly text: string;
  readonly nags: readonly number[];
  /** The best move in SAN. Lichess and Kibitz also write a variation that begins with this move. */
  readonly best: string | undefined;
}

/** The NAG for each judgement. A comment about a forced mate can have any of these NAGs. */
const nagsOf: Readonly<Record<string, readonly number[]>> = { Inaccuracy: [6], Mistake: [2], Blunder: [4] };
const anyNag = [2, 4, 6];

const score = String.raw`(?:[+-]?\d{1,4}\.\d{1,2}|#-?\d{1,3}|Mate in \d{1,3})`;
const verdict =
  "(Inaccuracy|Mistake|Blunder|Checkmate is now unavoidable|Lost forced checkmate sequence|Not the best checkmate sequence)\\.";
const san = String.raw`([a-hKQRBNO][\w=+#-]{1,9})`;
const best = ` (?:${san} was best|(?:The best|Best) move was ${san})\\.`;

/** Matches a judgement with scores anywhere in a comment, such as `(0.36 → -0.36) Inaccuracy.` */
const scored = new RegExp(`\\((?:${score} → )?${score}\\) ${verdict}(?:${best})?`);

/** Matches a comment such as `Mistake. Nf3 was best.` Does not match `Mistake.` alone, which people also write. */
const alone = new RegExp(`^${verdict}${best}$`);

/** Matches a command such as `[%clk]`. The length limit keeps the search time linear. */
const commands = /\[%[^\]]{1,64}\]/g;

/** Removes the judgements of an earlier analysis. Also removes their NAGs, except for a judgement that equals `current`. */
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

/** Returns an empty text if the comment contains only a judgement. */
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

/** Removes the best line of each judgement: the last variation that begins with the best move and contains only moves. */
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
