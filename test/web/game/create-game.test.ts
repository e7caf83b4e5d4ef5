import { expect, test } from "vitest";
import { createGameState } from "../../../web/src/game/create-game.ts";
import { pgnOfGame } from "../../../web/src/game/pgn.ts";

const movesOf = ({ line }: ReturnType<typeof createGameState>) =>
  line.value.slice(1).map(({ move }) => move?.san);

test("a new game begins at the start position and has nothing to undo", () => {
  const game = createGameState();
  expect(game.at.value.position.fen).toBe("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1");
  expect(game.canUndo.value).toBe(false);
});

test("stepping through a game follows the current line, and stops at the first and last position", () => {
  const game = createGameState();
  game.takeFen("startpos", ["e4", "e5", "Nf3"]);
  expect(game.at.value.ply).toBe(3);
  game.step("forward");
  expect(game.at.value.ply).toBe(3);
  game.step("first");
  game.step("back");
  expect(game.at.value.ply).toBe(0);
  game.step("forward");
  expect(game.at.value.move?.san).toBe("e4");
  game.step("last");
  expect(game.at.value.ply).toBe(3);
});

test("a move from an earlier position keeps the later moves, and undo removes the new move", () => {
  const game = createGameState();
  game.takeFen("startpos", ["e4", "e5", "Nf3", "Nc6", "Bc4"]);
  const [, , e5] = game.line.value;
  game.goTo(e5 ?? game.at.value);
  expect(game.play(["Nc3", "Nf6"])).toEqual({ played: 2, refused: undefined });
  expect(movesOf(game)).toEqual(["e4", "e5", "Nc3", "Nf6"]);
  expect(pgnOfGame(game.game.value)).toBe("1. e4 e5 2. Nf3 ( 2. Nc3 Nf6 ) 2... Nc6 3. Bc4 *\n");
  game.undo();
  expect(movesOf(game)).toEqual(["e4", "e5", "Nf3", "Nc6", "Bc4"]);
  expect(game.at.value.ply).toBe(2);
});

test("undo restores removed moves, the order of variations and the previous game", () => {
  const game = createGameState();
  game.play(["e4"]);
  game.takePgn("1. d4 d5 (1... Nf6) *");
  const before = game.game.value;
  const [d4] = before.start.children;
  const variation = d4?.children[1] ?? before.start;
  game.promote(variation);
  expect(pgnOfGame(game.game.value)).toBe("1. d4 Nf6 ( 1... d5 ) *\n");
  game.goTo(variation);
  game.remove(variation);
  expect(game.at.value.id).toBe("d2d4");
  game.undo();
  expect(game.at.value.id).toBe("d2d4 g8f6");
  game.undo();
  expect(game.game.value).toBe(before);
  game.undo();
  expect(movesOf(game)).toEqual(["e4"]);
});

test("an invalid text leaves the game unchanged, and is reported until the next edit", () => {
  const game = createGameState();
  game.play(["e4"]);
  game.takeFen("8/8/8 w");
  expect(game.refused.value).toMatchObject({ kind: "fen", from: "input", text: "8/8/8 w" });
  game.takePgn("1. e4 e5 2. Ke4", "link");
  expect(game.refused.value).toMatchObject({
    kind: "pgn",
    from: "link",
    violations: [{ place: { offset: 12 } }],
  });
  expect(movesOf(game)).toEqual(["e4"]);
  game.play(["e5"]);
  expect(game.refused.value).toBeUndefined();
});

test("a game with an illegal move contains the moves before the illegal move", () => {
  const game = createGameState();
  game.takeFen("startpos", ["e4", "Ke4"]);
  expect(movesOf(game)).toEqual(["e4"]);
  expect(game.refused.value).toMatchObject({ kind: "moves", violations: [{ index: 1 }] });
});

test("a reviewed game keeps its original text while variations are tried, and a new game has no review text", () => {
  const game = createGameState();
  game.takePgn("1. e4 e5 *");
  game.review("1. e4 e5 *");
  game.play(["d4"]);
  expect(game.reviewed.value).toBe("1. e4 e5 *");
  game.takeFen("startpos");
  expect(game.reviewed.value).toBeUndefined();
});

test("a review removes the variations of an earlier review, and keeps the user's variations", () => {
  const game = createGameState();
  const judged = "{ (0.30 → -0.40) Inaccuracy. Nc3 was best. }";
  game.takePgn(`1. e4 e5 2. f3?! ${judged} (2. Nf3 Nc6) (2. Nc3 {my idea}) (2. Nc3 Nf6) Nc6 *`);
  game.review();
  expect(pgnOfGame(game.game.value)).toContain(
    `${judged} ( 2. Nf3 Nc6 ) ( 2. Nc3 { my idea } Nf6 ) 2... Nc6`,
  );
  game.takePgn(`1. e4 e5 2. f3?! ${judged} (2. Nf3 Nc6) (2. Nc3 Nf6) Nc6 *`);
  game.review();
  expect(pgnOfGame(game.game.value)).toContain(`${judged} ( 2. Nf3 Nc6 ) 2... Nc6`);
  game.goTo(game.line.value[2] ?? game.game.value.start);
  game.play(["Nc3"]);
  game.review();
  expect(pgnOfGame(game.game.value)).toContain("( 2. Nc3 )");
});
