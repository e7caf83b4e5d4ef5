import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { describeWith } from "../support/needs.ts";
import {
  analysisOf,
  clickAt,
  copied,
  downloadedPgn,
  drag,
  openFile,
  paste,
  withClipboard,
} from "./support/analysis-page.ts";
import { launchFirefox } from "./support/launch-firefox.ts";
import { usePage, useSharedService } from "./support/open-page.ts";

/** The other files test the page in Chromium. */
describeWith("chromium", "firefox")("the page in Firefox", () => {
  const kibitz = usePage(useSharedService(), launchFirefox);
  const open = async (address: string) => {
    const page = await kibitz.open({ address, ...withClipboard });
    await page.locator("cg-board piece").first().waitFor();
    return { page, ...analysisOf(page) };
  };
  const isReviewed = (page: Page) => page.getByRole("table", { name: "Accuracy and mistakes" }).waitFor();

  test("in Firefox, a FEN and a PGN can be pasted on the page and into a field, and Undo restores the former game", async () => {
    const { page, fen, moves, state } = await open("#moves=d4&depth=3");
    await paste(page, "6k1/5ppp/8/8/8/8/5PPP/4R1K1 w - - 0 1");
    await page.getByRole("gridcell", { name: "e1, White rook" }).waitFor();
    expect(await fen.inputValue()).toBe("6k1/5ppp/8/8/8/8/5PPP/4R1K1 w - - 0 1");
    await page.getByLabel("Depth", { exact: true }).click();
    await paste(page, "1. e4 {best} e5 (1... c5) 2. Nf3 *");
    await expect.poll(() => moves.allTextContents()).toEqual(["e4", "e5", "1… c5", "Nf3"]);
    await state.getByText("Depth 3", { exact: true }).waitFor();
    for (const square of ["e1, White rook", "d4, White pawn"]) {
      await page.getByRole("button", { name: "Undo" }).click();
      await page.getByRole("gridcell", { name: square }).waitFor();
    }
  });

  test("in Firefox, moves can be played by dragging, by clicks, by keys and in the move field, and Space plays the best move", async () => {
    const { page, square, move, moves, lines } = await open("#depth=3");
    await drag(page, square("e2"), square("e4"));
    await expect.poll(() => moves.count()).toBe(1);
    await clickAt(page, square("e7"));
    await clickAt(page, square("e5"));
    await expect.poll(() => moves.count()).toBe(2);
    await square("g1").focus();
    for (const key of ["Enter", "ArrowUp", "ArrowUp", "ArrowLeft", "Enter"]) {
      await page.keyboard.press(key);
    }
    await expect.poll(() => moves.count()).toBe(3);
    await move.fill("Sc6");
    await move.press("Enter");
    await expect.poll(() => moves.allTextContents()).toEqual(["e4", "e5", "Nf3", "Nc6"]);
    await lines.first().waitFor();
    await page.getByRole("button", { name: "Flip board" }).click();
    await page.locator(".orientation-black").waitFor();
    await page.keyboard.press("Space");
    await expect.poll(() => moves.count()).toBe(5);
    expect(await page.locator(".orientation-black").count()).toBe(1);
    await page.keyboard.press("ArrowLeft");
    await expect.poll(() => page.locator(".move[aria-current]").textContent()).toBe("Nc6");
  });

  test("in Firefox, a file with a game is reviewed, and keys go to its moves and mistakes", async () => {
    const { page } = await open("#moves=d4&depth=3");
    await page.getByRole("link", { name: "Game review" }).click();
    const game = '[White "Müller"]\n[Black "Jørgen"]\n\n1. f3 e5 2. g4 Qh4# 0-1\n';
    await openFile(page, Buffer.from(game, "latin1"));
    await isReviewed(page);
    await page.getByRole("heading", { name: "Müller 0–1 Jørgen" }).waitFor();
    await page.keyboard.press("End");
    await page.getByRole("grid", { name: "Position after 2… Qh4#" }).waitFor();
    await page.keyboard.press("Shift+ArrowLeft");
    await page.getByRole("grid", { name: "Position after 2. g4" }).waitFor();
    await page.getByText(/^(Mistake|Blunder)\. \S+ was best\./).waitFor();
  });

  test("in Firefox, a game can be copied and downloaded as PGN, with the remarks of its review", async () => {
    const { page, moves } = await open("#depth=3");
    const pgn = '[White "Müller"]\n[Result "*"]\n\n1. e4 $1 { [%cal Ge2e4] } ( 1. d4 d5 ) 1... e5 *\n';
    await paste(page, pgn);
    await moves.filter({ hasText: "e5" }).waitFor();
    expect(await copied(page, "Copy PGN")).toBe(pgn);
    expect(await downloadedPgn(page)).toBe(pgn);
    await page.getByRole("link", { name: "Game review" }).click();
    await page.getByRole("button", { name: "Review this game" }).click();
    await isReviewed(page);
    expect(await downloadedPgn(page)).toMatch(/^\[White "Müller"\].*\[%eval/s);
  });

  test("in Firefox, a link, a reload and Back open the game again with its variations, at the same move", async () => {
    const { page, moves } = await open("#analysis&pgn=1._e4_e5_(1..._c5_2._Nf3)_*&depth=3");
    const current = (tab: Page) => expect.poll(() => tab.locator(".move[aria-current]").textContent());
    await moves.filter({ hasText: "c5" }).click();
    await current(page).toBe("1… c5");
    const other = await page.context().newPage();
    await other.goto(await copied(page, "Copy link"));
    await page.reload();
    await page.goto("about:blank");
    await page.goBack();
    for (const tab of [page, other]) {
      await current(tab).toBe("1… c5");
      expect(await analysisOf(tab).moves.allTextContents()).toEqual(["e4", "e5", "1… c5", "2. Nf3"]);
    }
  });
});
