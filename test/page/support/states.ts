import type { Page } from "playwright-core";
import { analysisOf, clickAt, openShare, paste } from "./analysis-page.ts";

type State = readonly [name: string, reach: (page: Page) => Promise<unknown>];

const open = (page: Page, hash: string) => page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });
const submitGame = async (page: Page, pgn: string) => {
  const field = page.getByLabel("A game in PGN");
  if (!(await field.isVisible())) {
    await button(page, "Open a game or a position").click();
  }
  await field.fill(pgn);
  await page.getByRole("button", { name: /^(Review the game|Open)$/ }).click();
};
const isReviewed = (page: Page) => page.getByRole("table", { name: "Accuracy and mistakes" }).waitFor();
const drop = (page: Page, type: string) =>
  page.evaluate(`{
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File(["nothing"], "game.pgn"));
    document.body.dispatchEvent(new DragEvent("${type}", { dataTransfer, bubbles: true, cancelable: true }));
  }`);

/** Further states of the page. Each begins where the former one ends, which is quicker than the scenes of `scenes.ts`. */
export const states: readonly State[] = [
  ["the list of keys", (page) => button(page, "Keys").click()],
  [
    "the choices of the display",
    async (page) => {
      await page.keyboard.press("Escape");
      await button(page, "Display").click();
    },
  ],
  [
    "an illegal move",
    async (page) => {
      await page.keyboard.press("Escape");
      await analysisOf(page).move.fill("Ke5");
      await analysisOf(page).move.press("Enter");
      await page.getByText("“Ke5” is not a legal move here.").waitFor();
    },
  ],
  [
    "the pieces of a promotion in the move field",
    async (page) => {
      await open(page, "#fen=8/4P1k1/8/8/8/8/8/4K3_w_-_-_0_1&depth=2");
      await page.getByRole("gridcell", { name: "e7, White pawn" }).waitFor();
      await analysisOf(page).move.fill("e8");
      await analysisOf(page).move.press("Enter");
      await button(page, "e8=N").waitFor();
    },
  ],
  [
    "the pieces of a promotion on the board",
    async (page) => {
      // The move field may be below the board.
      await page.evaluate("scrollTo(0, 0)");
      await clickAt(page, analysisOf(page).square("e7"));
      await clickAt(page, analysisOf(page).square("e8"));
      await page.getByRole("dialog", { name: "What does the pawn become?" }).waitFor();
    },
  ],
  [
    "a finished game",
    async (page) => {
      await page.keyboard.press("Escape");
      await open(page, "#moves=f3_e5_g4_Qh4");
      await page.locator(".search-outcome").waitFor();
    },
  ],
  [
    "the fields for comments and glyphs",
    async (page) => {
      await page.getByText("Comment, glyphs and arrows").click();
      await page.getByRole("textbox", { name: /^Comment on/ }).fill("mate");
    },
  ],
  [
    "all settings",
    async (page) => {
      const more = page.getByText("More settings");
      if (!(await more.isVisible())) {
        await button(page, "Settings").click();
      }
      await more.click();
    },
  ],
  ["a file that is dragged", (page) => drop(page, "dragover")],
  [
    "a message about a file",
    async (page) => {
      await drop(page, "drop");
      await page.getByRole("alert").filter({ hasText: "contains no chess game" }).waitFor();
    },
  ],
  ["a pasted key", (page) => paste(page, "kbz_0123456789abcdef")],
  [
    "an invalid key",
    async (page) => {
      await button(page, "Cancel").click();
      await page.getByRole("heading", { name: "API call" }).click();
      await page.getByLabel("Key", { exact: true }).fill("two words");
      await button(page, "Use this key").click();
      await page.getByText("That is not a key").waitFor();
    },
  ],
  [
    "a new key",
    async (page) => {
      await button(page, "Get a free key").click();
      await page.getByText("Free plan").waitFor();
    },
  ],
  [
    "the editor with a piece, and a position without kings",
    async (page) => {
      await button(page, "Set up").click();
      await button(page, "Clear").click();
      await button(page, "White queen").click();
      await page.evaluate("scrollTo(0, 0)");
      await clickAt(page, page.getByRole("grid").locator('[data-square="d4"]'));
      await page.getByRole("gridcell", { name: "d4, White queen" }).waitFor();
    },
  ],
  [
    "a game with an illegal move",
    async (page) => {
      await button(page, "Cancel").click();
      await page.getByRole("link", { name: "Game review" }).click();
      await submitGame(page, "1. e4 e5 2. Ke4 *");
      await page.locator(".game-refusal").waitFor();
    },
  ],
  [
    "a review that is limited by the plan",
    async (page) => {
      await page.getByLabel("Depth", { exact: true }).fill("99");
      await submitGame(page, "1. e4 *");
      await page.getByRole("region", { name: "Out of range" }).waitFor();
    },
  ],
  [
    "a stopped review",
    async (page) => {
      await page.getByText("Another game").click();
      await page.getByLabel("Depth", { exact: true }).fill("25");
      await submitGame(page, "1. d4 d5 *");
      await button(page, "Stop").click();
      await button(page, "Resume").waitFor();
    },
  ],
  [
    "a reviewed game, and the menu to share it",
    async (page) => {
      await page.getByText("Another game").click();
      await page.getByLabel("Depth", { exact: true }).fill("4");
      await submitGame(
        page,
        '[White "A"]\n[WhiteElo "2000"]\n\n1. e4 {[%clk 0:05:00]} e5 (1... c5) 2. Nf3 *',
      );
      await isReviewed(page);
      await page.keyboard.press("End");
      await page.getByText("Game details").click();
      await openShare(page);
    },
  ],
  [
    "a tried move, and a game that has changed since its review",
    async (page) => {
      await page.keyboard.press("Escape");
      await page.getByRole("button", { name: "1… c5" }).click();
      await button(page, "Make main line").click();
      await button(page, "Review again").waitFor();
    },
  ],
  [
    "a lost connection",
    async (page) => {
      await page.context().setOffline(true);
      await button(page, "Review again").click();
      await page.getByRole("region", { name: "The service does not answer" }).waitFor();
    },
  ],
];
