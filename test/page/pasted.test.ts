import { expect, test } from "vitest";
import { describeWith } from "../support/needs.ts";
import { analysisOf, paste, withClipboard } from "./support/analysis-page.ts";
import { usePage } from "./support/open-page.ts";

const fen = "6k1/5ppp/8/8/8/8/5PPP/4R1K1 w - - 0 1";
const underscored = fen.replaceAll(" ", "_");

describeWith("chromium")("texts that are pasted on the page", () => {
  const kibitz = usePage();
  const open = async (address = "#depth=3") => {
    const page = await kibitz.open({ address, ...withClipboard });
    return { page, ...analysisOf(page), notice: page.getByRole("alert") };
  };

  test("the page finds a pasted FEN in quotes, after the word FEN, with underscores, and in links to other sites", async () => {
    const { page, fen: field } = await open();
    for (const text of [
      `"${fen}"`,
      `FEN: ${fen}`,
      underscored,
      `https://lichess.org/analysis/${underscored}?color=white`,
      `https://lichess.org/editor/${underscored}`,
    ]) {
      await paste(page, text);
      await expect.poll(() => field.inputValue(), { message: text }).toBe(fen);
      await paste(page, "startpos");
      await expect.poll(() => field.inputValue()).toMatch(/^rnbqkbnr/);
    }
  });

  test("a pasted game is analysed from its first position", async () => {
    const page = await kibitz.open();
    await paste(page, "1. e4 e5 2. Nf3 *");
    await analysisOf(page).moves.filter({ hasText: "Nf3" }).waitFor();
    await analysisOf(page)
      .state.getByText(/^Depth \d+/)
      .waitFor();
  });

  test("the first of two pasted positions is shown, with a message", async () => {
    const { page, fen: field, notice } = await open();
    await paste(page, `${fen}\n8/8/8/4k3/8/8/4P3/4K3 w - - 0 1`);
    await notice.filter({ hasText: "The text has 2 positions. This is the first." }).waitFor();
    expect(await field.inputValue()).toBe(fen);
    await page.getByRole("button", { name: "Close" }).click();
    await expect.poll(() => notice.count()).toBe(0);
  });

  test("a pasted link to the page restores its position, and Undo returns to the previous position", async () => {
    const { page, moves } = await open();
    await paste(page, `${kibitz.url}/#moves=e4_e5_Nf3&ply=2`);
    await page.getByRole("gridcell", { name: "e5, Black pawn" }).waitFor();
    expect(await moves.allTextContents()).toEqual(["e4", "e5", "Nf3"]);
    await page.getByRole("gridcell", { name: "g1, White knight" }).waitFor();
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByRole("gridcell", { name: "e2, White pawn" }).waitFor();
  });

  test("after an invalid link is pasted, the page shows an error and the start position, and Undo restores the previous game", async () => {
    const { page, moves } = await open("#moves=e4_e5&depth=3");
    await page.getByRole("gridcell", { name: "e5, Black pawn" }).waitFor();
    await paste(page, `${kibitz.url}/#fen=8/8/nonsense_w`);
    await page.getByRole("alert").filter({ hasText: "The link cannot be read" }).waitFor();
    await page.getByRole("gridcell", { name: "e7, Black pawn" }).waitFor();
    expect(await moves.allTextContents()).toEqual([]);
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByRole("gridcell", { name: "e5, Black pawn" }).waitFor();
    expect(await moves.allTextContents()).toEqual(["e4", "e5"]);
  });

  test("a message about a pasted text without a game or position stays visible until the next move", async () => {
    const { page, move, notice } = await open();
    await paste(page, "Who is better here?");
    await notice.filter({ hasText: "The pasted text has no position or game." }).waitFor();
    await paste(page, "https://lichess.org/AbCdEfGh");
    await notice.filter({ hasText: "Copy the game there as PGN" }).waitFor();
    await move.fill("e4");
    await move.press("Enter");
    await expect.poll(() => notice.count()).toBe(0);
  });
});
