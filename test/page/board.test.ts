import { expect, test } from "vitest";
import { describeWith } from "../support/needs.ts";
import { analysisOf, clickAt, drag } from "./support/analysis-page.ts";
import { usePage } from "./support/open-page.ts";

describeWith("chromium")("the board", () => {
  const kibitz = usePage();
  const open = async (address = "") => {
    const page = await kibitz.open({ address });
    await page.locator("cg-board piece").first().waitFor();
    return { page, ...analysisOf(page) };
  };
  const depth = "&depth=3";

  test("the board accepts a legal move by dragging, and rejects an illegal move", async () => {
    const { page, square, moves, fen } = await open(`#analysis${depth}`);
    await drag(page, square("e2"), square("e5"));
    await drag(page, square("e2"), square("e4"));
    await moves.filter({ hasText: "e4" }).waitFor();
    expect(await moves.allTextContents()).toEqual(["e4"]);
    expect(await fen.inputValue()).toBe("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1");
  });

  test("the board accepts a move by two clicks", async () => {
    const { page, square, moves } = await open(`#analysis${depth}`);
    await clickAt(page, square("g1"));
    await clickAt(page, square("f3"));
    await moves.filter({ hasText: "Nf3" }).waitFor();
    expect(await square("f3").getAttribute("aria-label")).toBe("f3, White knight");
  });

  test("the board accepts moves by keyboard, and announces the selected piece and its target squares", async () => {
    const { page, square, moves, heard } = await open(`#analysis${depth}`);
    await square("e2").focus();
    await page.keyboard.press("Enter");
    await page.getByRole("gridcell", { name: "e2, White pawn", selected: true }).waitFor();
    await page.getByRole("gridcell", { name: "e4, empty, can go here" }).waitFor();
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("ArrowUp");
    await page.locator('[data-square="e4"]:focus').waitFor();
    await page.keyboard.press("Enter");
    await moves.filter({ hasText: "e4" }).waitFor();
    await heard.filter({ hasText: "White pawn e2 to e4." }).waitFor();
    await square("e7").focus();
    await page.keyboard.press("Enter");
    await page.keyboard.press("Escape");
    expect(await page.getByRole("gridcell", { selected: true }).count()).toBe(0);
  });

  test("the move field accepts SAN and UCI, and keeps an illegal move for correction", async () => {
    const { page, move, moves } = await open(`#analysis${depth}`);
    await move.fill("1. e4 e7e5 Nf3 Ke4");
    await move.press("Enter");
    await page.getByRole("alert").filter({ hasText: "“Ke4” is not a legal move here." }).waitFor();
    expect(await moves.allTextContents()).toEqual(["e4", "e5", "Nf3"]);
    expect(await move.inputValue()).toBe("Ke4");
  });

  test("a promotion opens a dialog with the pieces, and Escape cancels the move", async () => {
    const { page, square, moves } = await open(`#fen=7k/P7/8/8/8/8/8/K7_w_-_-_0_1${depth}`);
    await drag(page, square("a7"), square("a8"));
    await page.getByRole("dialog", { name: "What does the pawn become?" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("gridcell", { name: "a7, White pawn" }).waitFor();
    expect(await page.locator("cg-board piece.pawn").count()).toBe(1);
    await drag(page, square("a7"), square("a8"));
    await page.getByRole("button", { name: "knight" }).click();
    await moves.filter({ hasText: "a8=N" }).waitFor();
  });

  test("the board draws the best moves", async () => {
    const { page, lines } = await open("#moves=e4&depth=3&multipv=2");
    await lines.nth(1).waitFor();
    await expect.poll(() => page.locator(".cg-shapes line").count()).toBe(2);
  });

  test("the king castles with a move of two squares, and in Chess960 with a move onto the rook", async () => {
    const standard = await open(`#fen=4k3/8/8/8/8/8/8/4K2R_w_K_-_0_1${depth}`);
    await drag(standard.page, standard.square("e1"), standard.square("g1"));
    await standard.moves.filter({ hasText: "O-O" }).waitFor();
    const chess960 = await open(`#fen=1rk4r/8/8/8/8/8/8/1RK4R_w_KQkq_-_0_1${depth}`);
    expect(await chess960.fen.inputValue()).toBe("1rk4r/8/8/8/8/8/8/1RK4R w HBhb - 0 1");
    await drag(chess960.page, chess960.square("c1"), chess960.square("h1"));
    await chess960.moves.filter({ hasText: "O-O" }).waitFor();
    expect(await chess960.fen.inputValue()).toBe("1rk4r/8/8/8/8/8/8/1R3RK1 b hb - 1 1");
    await chess960.lines.first().waitFor();
  });

  test("keys and buttons step back and forward in a game", async () => {
    const { page, moves, move, board } = await open(`#moves=e4_e5_Nf3_Nc6${depth}`);
    await moves.filter({ hasText: "Nc6" }).waitFor();
    await page.keyboard.press("ArrowLeft");
    await page.keyboard.press("ArrowLeft");
    await page
      .getByRole("button", { name: "e5", exact: true, disabled: false })
      .and(page.locator("[aria-current=step]"))
      .waitFor();
    await page.getByRole("button", { name: "One move forward" }).click();
    expect(await moves.allTextContents()).toEqual(["e4", "e5", "Nf3", "Nc6"]);
    await page.keyboard.press("Home");
    await board.getByRole("gridcell", { name: "e2, White pawn" }).waitFor();
    await move.fill("d4");
    await move.press("Enter");
    await moves.filter({ hasText: "d4" }).waitFor();
  });

  test("flipping the board also reverses the arrow keys and changes the address", async () => {
    const { page, square } = await open(`#analysis${depth}`);
    await page.getByRole("button", { name: "Flip board" }).click();
    await square("e7").focus();
    await page.keyboard.press("ArrowUp");
    await page.locator('[data-square="e6"]:focus').waitFor();
    const [white, black] = await Promise.all(["e2", "e7"].map((name) => square(name).boundingBox()));
    expect(white?.y).toBeLessThan(black?.y ?? 0);
    await expect.poll(() => page.url()).toContain("board=black");
  });

  test("screen readers announce the side to move, a check, and all pieces with their squares", async () => {
    const { page } = await open(`#fen=4k3/8/8/8/8/8/4r3/4K2R_w_K_-_0_1${depth}`);
    await page
      .getByText("White to move. Check. White: king e1, rook h1. Black: king e8, rook e2.")
      .waitFor({ state: "attached" });
  });

  const openSetUp = async (address: string) => {
    const opened = await open(address);
    const { page } = opened;
    await page.getByRole("button", { name: "Set up" }).click();
    const squares = page.getByRole("grid", { name: "Board, being set up" });
    await squares.waitFor();
    const button = (name: string) => page.getByRole("button", { name, exact: true });
    const at = (name: string) => squares.locator(`[data-square="${name}"]`);
    return { ...opened, squares, button, at };
  };

  test("the editor sets up a position piece by piece, by pointer and by keyboard", async () => {
    const { page, fen, button, at } = await openSetUp(`#analysis${depth}`);
    await button("Clear").click();
    await page.getByText("White has no king.").waitFor();
    expect(await button("Done").isDisabled()).toBe(true);
    await drag(page, button("White king"), at("c1"));
    await button("Black king").click();
    await clickAt(page, at("e8"));
    await button("White rook").click();
    await at("b1").focus();
    await page.keyboard.press("Enter");
    await clickAt(page, at("g4"));
    await button("Remove").click();
    await clickAt(page, at("g4"));
    await button("Move").click();
    await drag(page, at("e8"), at("d8"));
    await page.getByRole("checkbox", { name: "White queenside" }).check();
    await page.getByText("This is a position of Chess960.").waitFor();
    await page.getByRole("radio", { name: "Black" }).check();
    await button("Done").click();
    await fen.waitFor();
    expect(await fen.inputValue()).toBe("3k4/8/8/8/8/8/8/1RK5 b B - 0 1");
  });

  test("Back, Escape, a visit to the review and a reload do not discard the editor's position, but Cancel does", async () => {
    const { page, squares, button, at } = await openSetUp(`#moves=e4${depth}`);
    await button("Remove").click();
    await clickAt(page, at("e4"));
    const isThere = () => squares.getByRole("gridcell", { name: "e4, empty" }).waitFor();
    const isClosed = () => squares.waitFor({ state: "detached" });
    await isThere();
    await page.goBack();
    await isClosed();
    await page.goForward();
    await isThere();
    await page.getByRole("link", { name: "Game review" }).click();
    await page.goBack();
    await isThere();
    await page.reload();
    await isThere();
    await page.keyboard.press("Escape");
    await isClosed();
    await button("Set up").click();
    await isThere();
    await button("Cancel").click();
    await isClosed();
    await button("Set up").click();
    await squares.getByRole("gridcell", { name: "e4, White pawn" }).waitFor();
  });

  test("after Done, the editor opens with the position on the board", async () => {
    const { page, squares, move, button, at } = await openSetUp(`#analysis${depth}`);
    await button("Clear").click();
    await drag(page, button("White king"), at("c1"));
    await drag(page, button("Black king"), at("e8"));
    await button("Done").click();
    await page.getByRole("gridcell", { name: "c1, White king" }).waitFor();
    await move.waitFor();
    await page.keyboard.press("Control+Z");
    await page.getByRole("gridcell", { name: "e1, White king" }).waitFor();
    await button("Set up").click();
    await squares.getByRole("gridcell", { name: "e1, White king" }).waitFor();
  });

  test("Done leaves the game as it is if the position in the editor is unchanged", async () => {
    const { page, moves } = await open("#moves=e4_e5&depth=2");
    await page.getByRole("button", { name: "Set up" }).click();
    await page.getByRole("button", { name: "Clear" }).click();
    await page
      .getByRole("textbox", { name: "FEN" })
      .fill("rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 1");
    await page.getByRole("button", { name: "Done" }).click();
    await expect.poll(() => moves.allTextContents()).toEqual(["e4", "e5"]);
    await page.getByRole("button", { name: "Set up" }).click();
    await page.getByRole("radio", { name: "Black" }).check();
    await page.getByRole("button", { name: "Done" }).click();
    await expect.poll(() => moves.count()).toBe(0);
  });

  test("flipping the board of the editor also flips the list of pieces", async () => {
    const { page, button, at } = await openSetUp(`#analysis${depth}`);
    const y = async (name: string) => (await button(name).boundingBox())?.y ?? Number.NaN;
    expect(await y("Black king")).toBeLessThan(await y("White king"));
    await button("Flip board").click();
    await page.locator(".orientation-black").waitFor();
    expect(await y("White king")).toBeLessThan(await y("Black king"));
    expect((await at("a1").boundingBox())?.y).toBeLessThan((await at("a8").boundingBox())?.y ?? 0);
    expect([await button("Move").textContent(), await button("Remove").textContent()]).toEqual([
      " Move",
      " Remove",
    ]);
    expect(await y("Move")).toBe(await y("Remove"));
  });

  test("the editor reads a FEN, reports removed castling rights, and offers the start positions of Chess960", async () => {
    const { page, fen, at, button } = await openSetUp(`#analysis${depth}`);
    await fen.fill("4k3/8/8/8/8/8/8/4K3 w KQkq - 0 1");
    await page
      .getByText(/castling/i)
      .nth(1)
      .waitFor();
    expect(await at("e1").getAttribute("aria-label")).toBe("e1, White king");
    await page.getByRole("spinbutton", { name: /Chess960/ }).fill("0");
    expect(await fen.inputValue()).toBe("bbqnnrkr/pppppppp/8/8/8/8/PPPPPPPP/BBQNNRKR w KQkq - 0 1");
    await button("Done").click();
    await expect
      .poll(() => fen.inputValue())
      .toBe("bbqnnrkr/pppppppp/8/8/8/8/PPPPPPPP/BBQNNRKR w HFhf - 0 1");
  });
});
