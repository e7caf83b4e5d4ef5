import { Chess } from "chessops/chess";
import { makeSanAndPlay } from "chessops/san";
import type { NormalMove } from "chessops/types";
import fc from "fast-check";

const sanLists: fc.Arbitrary<readonly string[]> = fc
  .array(fc.nat(), { minLength: 1, maxLength: 60 })
  .map((choices) => {
    const chess = Chess.default();
    const sans: string[] = [];
    for (const choice of choices) {
      const moves = legalMoves(chess);
      const move = moves[choice % Math.max(1, moves.length)];
      if (move === undefined) {
        break;
      }
      sans.push(makeSanAndPlay(chess, move));
    }
    return sans;
  });

function legalMoves(chess: Chess): readonly NormalMove[] {
  return [...chess.allDests()].flatMap(([from, targets]) =>
    [...targets].map((to) => {
      const promotes = chess.board.pawn.has(from) && (to < 8 || to >= 56);
      return promotes ? { from, to, promotion: "queen" as const } : { from, to };
    }),
  );
}

const remarks = fc.constantFrom(
  "",
  "",
  "",
  " {a remark}",
  " $6",
  " {[%clk 0:01:00]} {two}",
  "!?",
  " (-- {threat})",
);

/** Random games in PGN with tags, comments, glyphs and variations. chessops can read all of these games. */
export const pgnTexts: fc.Arbitrary<{ readonly text: string; readonly sans: readonly string[] }> = fc
  .tuple(sanLists, fc.array(remarks, { minLength: 60, maxLength: 60 }), fc.boolean())
  .map(([sans, added, tagged]) => {
    const words = sans.map((san, index) => {
      const number = index % 2 === 0 ? `${index / 2 + 1}. ` : `${Math.ceil(index / 2)}... `;
      return `${number}${san}${added[index] ?? ""}`;
    });
    return { text: `${tagged ? '[White "x"]\n\n' : ""}${words.join(" ")} *\n`, sans };
  });
