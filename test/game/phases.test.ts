import { expect, test } from "vitest";
import { createDivider } from "../../src/game/phases.ts";
import { startFen } from "../chess/validated.ts";
import { gameOf } from "./games.ts";

/** Games with the first ply of each phase. Source: the tests of scalachess. */
const games = [
  {
    moves:
      "1. e3 g6 2. d4 Bg7 3. Nf3 Nf6 4. Bd3 O-O 5. O-O b6 6. c4 Bb7 7. Nbd2 d5 8. b3 Nbd7 9. Bb2 Re8 10. Qc2 dxc4 11. bxc4 c5 12. d5 e5 13. e4 h5 14. a4 Nf8 15. h3 Qd6 16. Nxe5 Rxe5 17. Nf3 N6d7 18. Nxe5 Bxe5 19. Bxe5 Nxe5 20. Be2 Bc8 21. f4 Ned7 22. e5 Qe7 23. Bf3 Rb8 24. Rae1 f5 25. d6 Qh4 26. e6 Nxe6 27. Rxe6 Nf6 28. Ree1 Qxf4 29. Bd5+ Nxd5 30. Rxf4 Nxf4 31. Qd2 g5 32. d7 Bb7 33. d8=Q+ Rxd8 34. Qxd8+ Kh7 35. Qc7+ Kh6 36. Qxb7",
    middlegame: [18, 40],
    endgame: [50, 65],
  },
  {
    moves:
      "1. e4 c5 2. Nf3 d6 3. d4 cxd4 4. Nxd4 Nc6 5. Nc3 e5 6. Nb3 Nf6 7. f3 Be7 8. Be3 O-O 9. Qd2 b6 10. O-O-O Bb7 11. g4 Rc8 12. h4 a5 13. h5 Nb4 14. g5 Nd7 15. g6 Nc5 16. h6 Nxb3+ 17. axb3 fxg6 18. hxg7 Rxf3 19. Bxb6 Qxb6 20. Qh6 Qe3+ 21. Qxe3 Rxe3 22. Bd3 Nxd3+ 23. cxd3 Bg5 24. Kb1 Kxg7 25. Rh2 Bf4 26. Rh4 h5 27. Rhh1 Rf8 28. Rhg1 g5 29. Rg2 g4 30. Nb5 Rf6 31. Nc7 Rg3 32. Rxg3 Bxg3 33. Ne8+ Kf7",
    middlegame: [20, 28],
    endgame: [50, 65],
  },
  {
    moves:
      "1. c4 e5 2. Nc3 f5 3. d3 Nf6 4. g3 Bb4 5. Bd2 O-O 6. Bg2 c6 7. Nf3 d5 8. cxd5 Bxc3 9. Bxc3 e4 10. dxe4 Nxe4 11. dxc6 Nxc6 12. Qb3+ Kh8 13. Rd1 Qc7 14. O-O Nxc3 15. Qxc3 Be6 16. a3 Rac8 17. Nd4 Nxd4 18. Qxd4 b6 19. e4 fxe4 20. Bxe4 Rcd8 21. Qe3 Qe5 22. b4 Bc4 23. Rfe1 Qh5 24. Rxd8 Rxd8 25. Bf3 Qf5",
    middlegame: [19, 26],
    endgame: [36, 48],
  },
  {
    moves:
      "1. e4 e5 2. f4 d6 3. Nf3 exf4 4. Bc4 h6 5. O-O Bg4 6. d4 Nc6 7. Bxf4 Nf6 8. Nc3 Be7 9. e5 dxe5 10. dxe5 Nh5 11. Be3 O-O 12. h3 Bxf3 13. Qxf3 Nxe5 14. Bxf7+ Rxf7 15. Qxh5 Qf8",
    middlegame: [19, 25],
    endgame: undefined,
  },
] as const;

const phasesOf = (fens: readonly string[]) => fens.map(createDivider());

test.each(games)(
  "the phases of a game begin as on Lichess: middlegame at ply $middlegame, endgame at ply $endgame",
  ({ moves, middlegame, endgame }) => {
    const phases = phasesOf(gameOf(moves).positions.map(({ fen }) => fen));
    const begins = phases.indexOf("middlegame");
    expect(begins).toBeGreaterThanOrEqual(middlegame[0]);
    expect(begins).toBeLessThanOrEqual(middlegame[1]);
    const ends = phases.indexOf("endgame");
    expect(ends).toBeGreaterThanOrEqual(endgame?.[0] ?? -1);
    expect(ends).toBeLessThanOrEqual(endgame?.[1] ?? -1);
    expect(new Set(phases.slice(0, begins))).toEqual(new Set(["opening"]));
  },
);

test.each([
  ["the start", startFen, "opening"],
  ["eleven pieces on the back ranks", "rn1qk1nr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKB1R w KQkq - 0 1", "opening"],
  ["ten pieces", "rn1qk1nr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKB2 w Qkq - 0 1", "middlegame"],
  ["three men on a back rank", "rnbqkbnr/pppppppp/8/8/8/NNBBQ3/PPPPPPPP/R3K2R w KQkq - 0 1", "middlegame"],
  ["seven pieces", "r3k2r/pppq4/8/8/8/8/PPPQ4/RN2K2R w KQkq - 0 1", "middlegame"],
  ["six pieces", "r3k2r/pppq4/8/8/8/8/PPPQ4/R3K2R w KQkq - 0 1", "endgame"],
  ["bare kings", "4k3/8/8/8/8/8/8/4K3 w - - 0 1", "endgame"],
])("the phase of a position with %s is recognized", (_, fen, phase) => {
  expect(phasesOf([fen])).toEqual([phase]);
});

test("the phases of a game never return to an earlier phase", () => {
  const endgame = "4k3/P7/8/8/8/8/8/4K3 w - - 0 1";
  expect(phasesOf([startFen, endgame, startFen])).toEqual(["opening", "endgame", "endgame"]);
});
