import { expect, test } from "vitest";
import { requestBounds } from "../../src/analysis/analysis.ts";
import { describeWith } from "../support/needs.ts";
import { analysisOf, copied, openShare, paste, withClipboard } from "./support/analysis-page.ts";
import { usePage } from "./support/open-page.ts";

const endgame = "8/8/8/4k3/8/8/4P3/4K3 w - - 0 1";

describeWith("chromium")("the address", () => {
  const kibitz = usePage();
  const open = async (address = "") => {
    const page = await kibitz.open({ address, ...withClipboard });
    return { page, ...analysisOf(page) };
  };

  test("a link restores the position, moves, board side and settings in another window", async () => {
    const first = await open("#depth=3");
    await first.move.fill("e4 e5 Nf3");
    await first.move.press("Enter");
    await first.page.keyboard.press("Escape");
    await first.page.getByRole("button", { name: "One move back" }).click();
    await first.page.getByRole("button", { name: "Flip board" }).click();
    await first.page.getByRole("spinbutton", { name: "Lines" }).fill("2");
    await openShare(first.page);
    const copy = first.page.getByRole("button", { name: "Copy link" });
    await copy.click();
    // Read the button, because a search result may replace the text in the live region.
    await copy.filter({ hasText: "Copied" }).waitFor();
    const link = new URL(String(await first.page.evaluate("navigator.clipboard.readText()")));
    expect(link.hash).toBe("#moves=e4_e5_Nf3&ply=2&board=black&depth=3&multipv=2");

    const second = await open(link.hash);
    await second.page.getByRole("gridcell", { name: "e5, Black pawn" }).waitFor();
    expect(await second.moves.allTextContents()).toEqual(["e4", "e5", "Nf3"]);
    expect(await second.page.getByRole("spinbutton", { name: "Lines" }).inputValue()).toBe("2");
    await second.lines.nth(1).waitFor();
  });

  test("a link contains the variations, comments and glyphs of a game, and the position in a variation", async () => {
    const { page, engine, moves } = await open();
    await engine.uncheck();
    await paste(page, '[White "Müller"]\n\n1. e4 e5 2. Nf3 (2. Bc4 {the bishop} Nf6!? 3. d3) Nc6 3. Bb5 *');
    await moves.filter({ hasText: "Nf6" }).click();
    await page.getByRole("gridcell", { name: "f6, Black knight" }).waitFor();
    const link = new URL(await copied(page, "Copy link"));
    const other = await kibitz.open({ address: link.hash, ownTab: true, ...withClipboard });
    await other.getByRole("gridcell", { name: "f6, Black knight" }).waitFor();
    await other.getByText("the bishop", { exact: true }).waitFor();
    expect(await analysisOf(other).moves.allTextContents()).toEqual(await moves.allTextContents());
    expect(await copied(other, "Copy PGN")).toContain('[White "Müller"]');
  });

  test("a link that would be too long has only the main line, and says so", async () => {
    const { page, engine, moves } = await open();
    await engine.uncheck();
    await paste(page, `1. e4 {${"long ".repeat(2000)}} e5 (1... c5 2. Nf3) 2. Nf3 *`);
    await moves.filter({ hasText: "c5" }).click();
    await openShare(page);
    await page.getByText("The link has only the main line").waitFor();
    await page.keyboard.press("Escape");
    const { hash } = new URL(await copied(page, "Copy link"));
    expect(hash).toBe("#analysis&pgn=1._e4_e5_2._Nf3_*&ply=1");
    expect(await copied(page, "Copy PGN")).toContain("( 1... c5 2. Nf3 )");
  });

  test("a link can be copied even in a browser without clipboard access", async () => {
    const { page, fen } = await open("#moves=e4");
    await page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })");
    await openShare(page);
    const copy = page.getByRole("button", { name: "Copy link" });
    await copy.click();
    await copy.filter({ hasText: "Copied" }).waitFor();
    await copy.filter({ hasText: "Copy link" }).waitFor();
    await page.keyboard.press("Escape");
    await fen.fill("");
    await fen.press("Control+V");
    expect(await fen.inputValue()).toMatch(/#moves=e4$/);
  });

  test("the browser's history has one entry for each view: Back leaves the view and keeps the moves that were played", async () => {
    const { page, move, moves, fen } = await open("#depth=3");
    const entries = () => page.evaluate<number>("history.length");
    const before = await entries();
    await move.fill("e4 e5");
    await move.press("Enter");
    await page.getByRole("gridcell", { name: "e5, Black pawn" }).waitFor();
    await fen.fill(endgame);
    await fen.press("Enter");
    await page.getByRole("gridcell", { name: "e5, Black king" }).waitFor();
    expect(await entries()).toBe(before);
    await page.getByRole("link", { name: "Game review" }).click();
    await page.getByRole("heading", { name: "Game review" }).waitFor();
    expect(await entries()).toBe(before + 1);
    await page.getByRole("link", { name: "Analysis" }).click();
    await move.fill("e4");
    await move.press("Enter");
    await moves.filter({ hasText: "e4" }).waitFor();
    await page.goBack();
    await page.getByRole("heading", { name: "Game review" }).waitFor();
    await page.goBack();
    await moves.filter({ hasText: "e4" }).waitFor();
  });

  test("Back returns from an address that was opened in the same tab to the former game", async () => {
    const { page, moves } = await open("#moves=e4_e5&depth=3");
    await page.getByRole("gridcell", { name: "e5, Black pawn" }).waitFor();
    await page.evaluate("location.hash = '#moves=d4&depth=3'");
    await page.getByRole("gridcell", { name: "d4, White pawn" }).waitFor();
    await page.goBack();
    await page.getByRole("gridcell", { name: "e5, Black pawn" }).waitFor();
    expect(await moves.allTextContents()).toEqual(["e4", "e5"]);
    await page.goForward();
    await page.getByRole("gridcell", { name: "d4, White pawn" }).waitFor();
  });

  test("a reload keeps the variations and the current move", async () => {
    const { page, move, moves } = await open("#depth=3");
    await move.fill("e4 e5 Nf3 Nc6");
    await move.press("Enter");
    await page.getByRole("gridcell", { name: "c6, Black knight" }).waitFor();
    await page.getByRole("button", { name: "One move back" }).click();
    await page.getByRole("button", { name: "One move back" }).click();
    await move.fill("Nc3 Nf6");
    await move.press("Enter");
    await page.getByRole("gridcell", { name: "f6, Black knight" }).waitFor();
    await page.getByRole("button", { name: "One move back" }).click();
    await page.reload();
    await page.getByRole("gridcell", { name: "c3, White knight" }).waitFor();
    await page.getByRole("gridcell", { name: "g8, Black knight" }).waitFor();
    expect(await moves.allTextContents()).toEqual(["e4", "e5", "Nf3", "2. Nc3", "Nf6", "Nc6"]);
    await page.getByRole("button", { name: "One move back" }).click();
    await page.getByRole("button", { name: "Last position" }).click();
    await page.getByRole("gridcell", { name: "c6, Black knight" }).waitFor();
  });

  test("the position of a link with an invalid depth is analysed to the default depth", async () => {
    const page = await kibitz.open({ address: "#moves=e4&depth=abc" });
    await page.getByText(`Depth ${requestBounds.depth.default}`, { exact: true }).waitFor();
    expect(await page.getByRole("spinbutton", { name: "Depth" }).inputValue()).toBe("");
  });

  test("the review shows an error if the game in a link is invalid", async () => {
    const page = await kibitz.open({ address: "#review&pgn=1._f3_Ke2" });
    await page.getByText("'Ke2'").first().waitFor();
    expect(page.url()).toContain("#review&pgn=1._f3_Ke2");
  });

  test("the analysis still shows its position after a visit to the review", async () => {
    const { page } = await open(`#fen=${endgame.replaceAll(" ", "_")}&depth=3`);
    await page.getByRole("gridcell", { name: "e5, Black king" }).waitFor();
    await page.getByRole("link", { name: "Game review" }).click();
    await page.getByRole("heading", { name: "Game review" }).waitFor();
    await page.getByRole("link", { name: "Analysis" }).click();
    await page.getByRole("gridcell", { name: "e5, Black king" }).waitFor();
    await page.goBack();
    await page.getByRole("heading", { name: "Game review" }).waitFor();
  });

  test("a move in one tab does not change another tab", async () => {
    const { page, fen } = await open(`#fen=${endgame.replaceAll(" ", "_")}&depth=3`);
    const other = await page.context().newPage();
    await other.goto(`${kibitz.url}/#moves=d4&depth=3`);
    await other.getByRole("gridcell", { name: "d4, White pawn" }).waitFor();
    await analysisOf(other).move.fill("d5");
    await analysisOf(other).move.press("Enter");
    await other.getByRole("gridcell", { name: "d5, Black pawn" }).waitFor();
    expect(await fen.inputValue()).toBe(endgame);
    expect(page.url()).toContain("#fen=8/8/8/4k3");
  });

  test("the page reports an invalid link and shows the start position", async () => {
    const { page } = await open("#fen=8/8/8/8/8/8/8/9_w");
    await page.getByRole("alert").filter({ hasText: "The link cannot be read" }).waitFor();
    expect(await page.locator("mark").textContent()).toBe("9");
    await page.getByRole("gridcell", { name: "e1, White king" }).waitFor();
    expect(await page.evaluate("scrollY")).toBe(0);
  });

  test("after an invalid link, moves can be played from the start position", async () => {
    const { page, move, moves } = await open("#fen=8/8/nonsense_w&moves=Kf2&depth=2");
    await page.getByRole("alert").filter({ hasText: "The link cannot be read" }).waitFor();
    await move.fill("e4");
    await move.press("Enter");
    await page.getByRole("gridcell", { name: "e4, White pawn" }).waitFor();
    expect(await moves.allTextContents()).toEqual(["e4"]);
    await expect.poll(() => page.url()).toContain("#moves=e4&depth=2");
    expect(await page.getByRole("alert").filter({ hasText: /./ }).count()).toBe(0);
  });

  test("a link with an illegal move shows the moves before the error, and reports the illegal move", async () => {
    const { page, moves } = await open("#moves=e4_e5_Ke4_Nf3&depth=3");
    await page.getByRole("alert").filter({ hasText: "'Ke4'" }).waitFor();
    expect(await moves.allTextContents()).toEqual(["e4", "e5"]);
  });

  test("the fragment of a link is never sent to the server", async () => {
    const asked: string[] = [];
    const page = await kibitz.open({
      address: "#moves=e4&depth=3",
      prepare: (page) => void page.on("request", (request) => asked.push(request.url())),
    });
    await page.getByRole("gridcell", { name: "e4, White pawn" }).waitFor();
    const sent = asked.map((url) => new URL(url)).map(({ pathname, search }) => pathname + search);
    expect(sent.filter((path) => path.includes("e4") || path.includes("depth"))).toEqual([]);
  });
});
