import type { ChildNode, PgnNodeData } from "chessops/pgn";

/** The judgement of a move that an earlier analysis, of Lichess or of Kibitz, has written into a PGN. */
interface OldJudgement {
  /** The part of the comment. */
  readonly text: string;
  /** The NAGs that this judgement may have brought with it. */
  readonly nags: readonly number[];
  /** The best move in SAN, with which the analysis has written a variation. */
  readonly best: string | undefined;
}

/** A forced mate that was lost or allowed is judged by the scores, so its glyph is any of the three. */
const nagsOf: Readonly<Record<string, readonly number[]>> = { Inaccuracy: [6], Mistake: [2], Blunder: [4] };
const anyNag = [2, 4, 6];

const score = String.raw`(?:[+-]?\d{1,4}\.\d{1,2}|#-?\d{1,3}|Mate in \d{1,3})`;
const verdict =
  "(Inaccuracy|Mistake|Blunder|Checkmate is now unavoidable|Lost forced checkmate sequence|Not the best checkmate sequence)\\.";
const san = String.raw`([a-hKQRBNO][\w=+#-]{1,9})`;
const best = ` (?:${san} was best|(?:The best|Best) move was ${san})\\.`;

/** People do not write the scores before and after a move, so such a judgement may stand in a longer comment. */
const scored = new RegExp(`\\((?:${score} → )?${score}\\) ${verdict}(?:${best})?`);

/** People write `Mistake.` too, so a judgement without scores names the best move and is the whole comment. */
const alone = new RegExp(`^${verdict}${best}$`);

/** The length is bounded, so that a comment with a thousand unfinished commands is searched in linear time. */
const commands = /\[%[^\]]{1,64}\]/g;

/** Returns the data of a move without its judgements. A glyph that came with one stays if `current`, the new comment, is the same. */
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
    const rest = comment.replace(judgement.text, "").replaceAll(/ {2,}/g, " ").trim();
    return rest === "" ? [] : [rest];
  });
  const nags = judgements.filter(({ text }) => text !== current).flatMap((judgement) => judgement.nags);
  return {
    data: { ...data, comments, nags: (data.nags ?? []).filter((nag) => !nags.includes(nag)) },
    judgements,
  };
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
 * Returns the variations without the lines that came with judgements. Each is the last variation that begins with the best move and
 * has nothing but moves, because Lichess and Kibitz write no more into a line.
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
