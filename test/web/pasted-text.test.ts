import fc from "fast-check";
import { expect, test } from "vitest";
import { gameFromFen } from "../../web/src/game/game.ts";
import { readPasted } from "../../web/src/pasted-text.ts";
import { placeFromFragment } from "../../web/src/place-text.ts";

const start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
const after = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1";
const underscored = after.replaceAll(" ", "_");

test.each([
  ["8/8/8/8/8/8/8/8 w - - 0 1", "fen"],
  ["  startpos\n", "fen"],
  ["rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP", "fen"],
  ["rnbqkbnr/ppppxppp/8/9/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", "fen"],
  ["rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR[Qn] w KQkq - 0 1", "fen"],
  ["1. e4 e5 2. Nf3", "pgn"],
  ["1.Nf3", "pgn"],
  ["1. Sf3 Sf6", "pgn"],
  ["12... O-O", "pgn"],
  ["♘f3 d5", "pgn"],
  ["g1f3 d7d5", "pgn"],
  ['[FEN "8/8/8/8/8/8/8/8 w - - 0 1"]\n\n*', "pgn"],
  ["{A long remark} e4 (d4) e5 *", "pgn"],
  [" \n", undefined],
  ["1-0", undefined],
  ["1. Buy milk\n2. Buy bread", undefined],
  ["https://example.com/a4/b5/c6/d7", undefined],
  ["https://lichess.org/AbCdEfGh", "foreign link"],
  ["https://www.chess.com/game/live/1", "foreign link"],
  ["Meet me at e4, please; version 2.0", undefined],
  ["-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC", undefined],
  ["kbz_0123456789abcdef", "key"],
  ["  Bearer kbz_0123456789abcdef\n", "key"],
  ["1. e4 e5 {kbz_0123456789abcdef}", undefined],
  ["KIBITZ_API_KEY=kbz_0123456789abcdef", undefined],
] as const)("the pasted text %j is recognised as %s", (text, kind) => {
  expect(readPasted(text)?.kind).toBe(kind);
});

test.each([
  [`"${after}"`, after],
  [`‘${after}’`, after],
  [`FEN: ${after}`, after],
  [`fen ${after}`, after],
  [`position fen ${after}`, after],
  [`[fen] ${after}\nWho is better?`, after],
  [underscored, after],
  [`https://lichess.org/analysis/${underscored}?color=black`, after],
  [`https://lichess.org/analysis/standard/${underscored}`, after],
  [`https://lichess.org/editor/${encodeURI(underscored)}`, after],
  [`https://www.chess.com/analysis?fen=${encodeURIComponent(after)}&tab=analysis`, after],
])("the position in the pasted text %j is found", (text, fen) => {
  expect(readPasted(text)).toEqual({ kind: "fen", text: fen, count: 1 });
});

test("the first of several pasted positions is used, and all positions are counted", () => {
  expect(readPasted(`${after}\n${start}\n`)).toEqual({ kind: "fen", text: after, count: 2 });
});

test("the moves in a link to another site's analysis board are read as a game", () => {
  expect(readPasted("https://lichess.org/analysis/pgn/e4_e5_Nf3")).toEqual({
    kind: "pgn",
    text: "e4 e5 Nf3",
  });
});

test.each(["#moves=e4_e5", "#fen=8/8_w&depth=20", "#analysis&depth=3", "#review&pgn=1._e4"])(
  "a link with the fragment %s is recognised with and without the server's address",
  (fragment) => {
    expect(readPasted(`http://127.0.0.1:8080/${fragment}`)).toEqual({ kind: "link", text: fragment });
    expect(readPasted(fragment)).toEqual({ kind: "link", text: fragment });
  },
);

test("links and pasted texts never cause an exception", () => {
  const like = fc.stringMatching(/^[-rnbqkpRNBQKP1-9/ wKQkqa-h_%&=.+#"':[\]]{0,140}$/);
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: "binary" }), like), (text) => {
      const { fen, moves, ply } = placeFromFragment(`#fen=${text}&moves=${text}`);
      expect(ply).toBeLessThanOrEqual(moves.length);
      expect(gameFromFen(fen, moves).kind).toBeOneOf(["game", "violations"]);
      readPasted(text);
      readPasted(`https://lichess.org/analysis/${text}`);
    }),
    { numRuns: 75 },
  );
});
