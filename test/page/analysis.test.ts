import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { describeWith } from "../support/needs.ts";
import { analysisOf, paste, settle, withClipboard } from "./support/analysis-page.ts";
import { usePage } from "./support/open-page.ts";

const mateInOne = "6k1/5ppp/8/8/8/8/5PPP/4R1K1 w - - 0 1";

/** Searches that the page has begun. */
function searchesOf(page: Page): readonly string[] {
  const searches: string[] = [];
  page.on("request", (request) => {
    if (request.url().endsWith("/StreamEvaluate")) {
      searches.push(request.postData() ?? "");
    }
  });
  return searches;
}

describeWith("chromium")("the analysis", () => {
  const kibitz = usePage();
  const open = async (address = "") => {
    const page = await kibitz.open({ address, ...withClipboard });
    return { page, ...analysisOf(page) };
  };

  test("an analysis shows score, lines, chances, figures and the graph as it deepens", async () => {
    const { page, lines, score, heard } = await open("#moves=e4_e5_Nf3&depth=8&multipv=2");
    await page.getByText("Depth 8", { exact: true }).waitFor();
    expect(await lines.count()).toBe(2);
    expect(await score.getAttribute("aria-valuetext")).toMatch(/^[+−]?\d\.\d\d$/);
    await page.getByText(/^8 \/ \d+/).waitFor();
    await page
      .getByText(/^\d+\.\d%$/)
      .first()
      .waitFor();
    await page.getByRole("img", { name: /^Score by depth\. Depth 8: / }).waitFor();
    await heard.filter({ hasText: /^Depth 8\. .*Best move/ }).waitFor();
    expect(await page.locator(".board-arrow").count()).toBe(2);
  });

  test("an analysis shows on the board where a line leads, and plays the line at a click", async () => {
    const { page, lines, fen, moves } = await open(`#fen=${mateInOne.replaceAll(" ", "_")}&depth=4`);
    const before = await fen.inputValue();
    const mate = lines.getByRole("button", { name: "Re8#" });
    await mate.hover();
    await page.getByRole("gridcell", { name: "e8, White rook" }).waitFor();
    await page.getByText("Whole line").or(fen).first().hover();
    await page.getByRole("gridcell", { name: "e1, White rook" }).waitFor();
    expect(await fen.inputValue()).toBe(before);
    await mate.click();
    await moves.filter({ hasText: "Re8#" }).waitFor();
    await page.getByText("Checkmate. White wins.", { exact: true }).waitFor();
  });

  test.each([
    ["7k/8/6QK/8/8/8/8/8 b - - 0 1", "Stalemate. The game is drawn."],
    ["7k/8/7K/8/8/8/8/8 b - - 0 1", "Neither side can mate any more. The game is drawn."],
    ["7k/8/7K/8/8/8/8/R7 w - - 100 80", "White may claim a draw: 50 moves without a capture or pawn move."],
  ])("the analysis of %s says: %s", async (fen, words) => {
    const { page } = await open(`#fen=${fen.replaceAll(" ", "_")}&depth=2`);
    await page.locator(".search-outcome").filter({ hasText: words }).waitFor();
  });

  test("an analysis counts repetitions, because the page sends the moves", async () => {
    const shuffle = "Nf3_Nf6_Ng1_Ng8_".repeat(2).slice(0, -1);
    const { page } = await open(`#moves=${shuffle}&depth=2`);
    await page.locator(".search-outcome").filter({ hasText: "White may claim a draw" }).waitFor();
  });

  test("an analysis that is stopped keeps the lines that it has found", async () => {
    const { page, stop, start, lines } = await open("#moves=e4_c5&depth=30");
    await lines.first().waitFor();
    await stop.click();
    await page.getByText("Stopped", { exact: true }).and(page.locator(".search-state")).waitFor();
    expect(await lines.count()).toBe(1);
    await start.waitFor();
  });

  test("a new position ends the search of the old one, and a position that is known is not searched again", async () => {
    const { page, lines, stop, move } = await open("#moves=e4_c5&depth=30");
    const searches = searchesOf(page);
    await lines.first().waitFor();
    const ended = page.waitForEvent("requestfailed", (request) => request.url().endsWith("/StreamEvaluate"));
    await move.fill("Nf3");
    await move.press("Enter");
    await ended;
    await page.getByRole("spinbutton", { name: "Depth" }).fill("4");
    await page.getByText("Depth 4", { exact: true }).waitFor();
    await stop.waitFor({ state: "hidden" });
    const asked = searches.length;
    await page.getByRole("button", { name: "One move back" }).click();
    await page.getByText("Depth 4", { exact: true }).waitFor();
    await page.getByRole("button", { name: "One move forward" }).click();
    await page.getByText("Depth 4", { exact: true }).waitFor();
    expect(searches.length).toBe(asked + 1);
  });

  test("screen readers hear the move and the score of a position that is known", async () => {
    const { page, move, heard } = await open("#moves=e4_c5&depth=3");
    await heard.filter({ hasText: "Depth 3. " }).waitFor();
    await move.fill("Nf3");
    await move.press("Enter");
    await heard.filter({ hasText: "f3" }).waitFor();
    await heard.filter({ hasText: "Depth 3. " }).waitFor();
    await page.getByRole("button", { name: "One move back" }).click();
    await heard.filter({ hasText: /Black pawn c7 to c5.* Depth 3\. / }).waitFor();
  });

  test("screen readers hear the same words again if they are said again", async () => {
    const { page, heard } = await open();
    await page.evaluate(`{
      globalThis.told = 0;
      const region = document.querySelector("[role=status]");
      new MutationObserver(() => globalThis.told++).observe(region, { childList: true });
    }`);
    const copy = page.getByRole("button", { name: "Copy FEN" });
    await copy.click();
    await heard.filter({ hasText: /opied/ }).waitFor();
    await copy.click();
    await expect.poll(() => page.evaluate("told")).toBe(2);
  });

  test("a click on Analyse before a new setting has settled sends one request", async () => {
    const { page, start } = await open("#moves=e4&depth=3");
    await page.getByText("Depth 3", { exact: true }).waitFor();
    const searches = searchesOf(page);
    await start.waitFor();
    // In one task, quicker than any machine settles.
    await page.evaluate(`{
      const field = document.querySelector("input[type=number], .request-form input");
      field.value = "4";
      field.dispatchEvent(new Event("input", { bubbles: true }));
      document.querySelector(".search-buttons .first").click();
    }`);
    await page.getByText("Depth 4", { exact: true }).waitFor();
    await settle(page);
    expect(searches).toHaveLength(1);
  });

  test('the page sends no search before there is a position, nor if "Every position" is off', async () => {
    const { page, move, start, lines } = await open();
    const searches = searchesOf(page);
    await page.getByRole("checkbox", { name: "Every position" }).uncheck();
    await page.getByRole("spinbutton", { name: "Depth" }).fill("3");
    await move.fill("e4");
    await move.press("Enter");
    await page.getByRole("gridcell", { name: "e4, White pawn" }).waitFor();
    await settle(page);
    expect(searches).toEqual([]);
    await start.click();
    await lines.first().waitFor();
    expect(searches).toHaveLength(1);
  });

  test("a FEN can be pasted anywhere on the page", async () => {
    const { page, fen, heard } = await open("#depth=3");
    await page.getByRole("checkbox", { name: "Every position" }).uncheck();
    await paste(page, ` ${mateInOne}\n`);
    await page.getByRole("gridcell", { name: "e1, White rook" }).waitFor();
    expect(await fen.inputValue()).toBe(mateInOne);
    await heard.filter({ hasText: "White to move." }).waitFor();
    await expect.poll(() => page.url()).toContain("#fen=6k1/5ppp/8/8/8/8/5PPP/4R1K1_w_-_-_0_1");
  });

  test("a FEN that is pasted into the review opens the analysis, and a PGN that is pasted there is analysed", async () => {
    const { page, fen } = await open("#review");
    await page.getByRole("heading", { name: "Game review" }).waitFor();
    await paste(page, mateInOne);
    await page.getByRole("gridcell", { name: "e1, White rook" }).waitFor();
    expect(await fen.inputValue()).toBe(mateInOne);
    await paste(page, "1. e4 e5 2. Nf3 *");
    await expect
      .poll(() => page.getByRole("list", { name: "Moves" }).getByRole("button").allTextContents())
      .toEqual(["Start", "e4", "e5", "Nf3"]);
    await page.getByRole("heading", { name: "Analysis" }).waitFor();
  });

  test("a file with a FEN can be dropped anywhere on the page", async () => {
    const { page, fen } = await open("#depth=3");
    // A hand that drags a file is beyond what browsers can be driven to; the event is the one that it makes.
    await page.evaluate(`{
      const data = new DataTransfer();
      data.items.add(new File([${JSON.stringify(mateInOne)}], "position.fen"));
      document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
    }`);
    await page.getByRole("gridcell", { name: "e1, White rook" }).waitFor();
    expect(await fen.inputValue()).toBe(mateInOne);
  });

  test("a FEN that cannot be read is explained at the place where it goes wrong", async () => {
    const { page, fen } = await open("#depth=3");
    await paste(page, "rnbqkbnr/ppppxppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1");
    await page.getByText("This FEN cannot be read", { exact: true }).waitFor();
    expect(await page.locator("mark").textContent()).toBe("x");
    await page.getByRole("listitem").filter({ hasText: "which is neither a piece" }).waitFor();
    expect(await fen.getAttribute("aria-invalid")).toBe("true");
    await fen.fill("4k3/8/8/8/8/8/8/4K2R w");
    await fen.press("Enter");
    await page.getByRole("button", { name: "Use 4k3/8/8/8/8/8/8/4K2R w K - 0 1" }).click();
    await page.getByRole("gridcell", { name: "h1, White rook" }).waitFor();
    expect(await fen.evaluate((field) => field === field.ownerDocument.activeElement)).toBe(true);
    expect(await page.locator("mark").count()).toBe(0);
  });

  test("the page runs no script in a FEN", async () => {
    const { page, fen } = await open("#depth=3");
    await fen.fill("<img/src=x/onerror=document.title='run'/> w - - 0 1");
    await fen.press("Enter");
    await page.getByText("This FEN cannot be read", { exact: true }).waitFor();
    expect(await page.locator("main img").count()).toBe(0);
    expect(await page.title()).not.toBe("run");
  });
});
