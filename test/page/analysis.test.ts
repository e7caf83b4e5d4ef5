import { beforeAll, expect, test } from "vitest";
import { defaultDepth } from "../../src/engine/profiles.ts";
import { describeWith } from "../support/needs.ts";
import { tablesFolder, verifyTablesOf } from "../support/tables.ts";
import {
  analysisOf,
  clickAt,
  copied,
  downloadedPgn,
  isInWindow,
  openShare,
  paste,
  searchesOf,
  settle,
  withClipboard,
} from "./support/analysis-page.ts";
import { usePage, useServiceInProcess } from "./support/open-page.ts";

/** Only moves of the rook win. */
const rookHangs = "8/8/8/3k4/4R3/8/8/K7 w - - 0 1";
const mateInOne = "6k1/5ppp/8/8/8/8/5PPP/4R1K1 w - - 0 1";

describeWith("chromium")("the analysis", () => {
  const kibitz = usePage();
  const open = async (address = "") => {
    const page = await kibitz.open({ address, ...withClipboard });
    return { page, ...analysisOf(page) };
  };

  test("an analysis shows the score, the lines, the winning chances, the numbers of the search and a graph of the score by depth", async () => {
    const { page, lines, score, heard, state } = await open("#moves=c4_e5_g3&depth=8&multipv=2");
    await state.getByText("Depth 8", { exact: true }).waitFor();
    expect(await lines.count()).toBe(2);
    expect(await score.getAttribute("aria-valuetext")).toMatch(/^[+−]?\d\.\d\d$/);
    await page.getByText(/^White \d+\.\d%$/).waitFor();
    const graph = page.getByRole("img", { name: /^Score by depth\. Depth 8: / });
    expect(await graph.isVisible()).toBe(false);
    await page.getByText(/^depth 8\/\d+ · .* nodes · .* · Stockfish/).click();
    await graph.waitFor();
    await heard.filter({ hasText: /Depth 8\. .*Best move/ }).waitFor();
    expect(await page.locator(".cg-shapes line").count()).toBe(2);
  });

  test("while the pointer is on a move of a line, the board shows the position after this move, and a click plays the moves", async () => {
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

  test("the board does not change if a line appears under a pointer that does not move", async () => {
    const { page, lines, state, moves } = await open("#moves=e4_c5_Nf3_Nc6&depth=6");
    await state.getByText("Depth 6", { exact: true }).waitFor();
    const move = lines.first().getByRole("button").nth(2);
    const box = await move.boundingBox();
    await page.mouse.move((box?.x ?? 0) + 6, (box?.y ?? 0) + 6, { steps: 3 });
    await page.locator(".shown-board-preview").waitFor();
    await page.mouse.down();
    await page.mouse.up();
    await expect.poll(() => moves.count()).toBe(7);
    await state.getByText("Depth 6", { exact: true }).waitFor();
    // Chromium now sends a pointer event for the new element under the pointer.
    await settle(page);
    expect(await page.locator(".shown-board-preview").count()).toBe(0);
    await page.mouse.move((box?.x ?? 0) + 8, (box?.y ?? 0) + 6);
    await page.locator(".shown-board-preview").waitFor();
    await page.locator(".line-score").first().hover();
    await page.locator(".shown-board-preview").waitFor({ state: "detached" });
  });

  test.each([
    ["7k/8/6QK/8/8/8/8/8 b - - 0 1", "Stalemate. The game is drawn."],
    ["7k/8/7K/8/8/8/8/8 b - - 0 1", "Neither side can mate any more. The game is drawn."],
    ["7k/8/7K/8/8/8/8/R7 w - - 100 80", "White may claim a draw: 50 moves without a capture or pawn move."],
  ])("the analysis of %s shows the message: %s", async (fen, words) => {
    const { page } = await open(`#fen=${fen.replaceAll(" ", "_")}&depth=2`);
    await page.locator(".search-outcome").filter({ hasText: words }).waitFor();
  });

  test("for a finished game, the page shows the result, but no search depth and no Analyse button", async () => {
    const { page, start, state } = await open(`#fen=${mateInOne.replaceAll(" ", "_")}&moves=Re8`);
    await page.getByText("Checkmate. White wins.", { exact: true }).waitFor();
    await state.getByText("Game over", { exact: true }).waitFor();
    expect(await start.count()).toBe(0);
    expect(await page.locator(".search-panel").textContent()).not.toMatch(/Depth|–(?!0)/);
  });

  test("impossible castling rights in a FEN are listed beside the board", async () => {
    const { page } = await open("#fen=4k3/8/8/8/8/8/8/4K3_w_KQkq_-_0_1&depth=2");
    await page
      .getByRole("listitem")
      .filter({ hasText: /[Cc]astling/ })
      .waitFor();
  });

  test("an analysis recognises a threefold repetition by the moves of the game", async () => {
    const shuffle = "Nf3_Nf6_Ng1_Ng8_".repeat(2).slice(0, -1);
    const { page } = await open(`#moves=${shuffle}&depth=2`);
    await page.locator(".search-outcome").filter({ hasText: "White may claim a draw" }).waitFor();
  });

  test("a stopped analysis keeps its lines", async () => {
    const { stop, start, lines, state } = await open("#moves=e4_c5&depth=30");
    await lines.first().waitFor();
    await stop.click();
    await state.getByText("Stopped", { exact: true }).waitFor();
    expect(await lines.count()).toBe(1);
    await start.waitFor();
  });

  test("a new position stops the running search, and a known position is not searched again", async () => {
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

  test("screen readers announce the move and the score of a position that was searched before", async () => {
    const { page, move, heard } = await open("#moves=e4_c5&depth=3");
    await heard.filter({ hasText: "Depth 3. " }).waitFor();
    await move.fill("Nf3");
    await move.press("Enter");
    await heard.filter({ hasText: "f3" }).waitFor();
    await heard.filter({ hasText: "Depth 3. " }).waitFor();
    await page.getByRole("button", { name: "One move back" }).click();
    await heard.filter({ hasText: /Black pawn c7 to c5.* Depth 3\. / }).waitFor();
  });

  test("screen readers announce the same text twice if two actions have the same result", async () => {
    const { page, heard } = await open();
    await page.evaluate(`{
      globalThis.announcements = 0;
      const region = document.querySelector("[role=status]");
      new MutationObserver(() => globalThis.announcements++).observe(region, { childList: true });
    }`);
    await openShare(page);
    const copy = page.getByRole("button", { name: "Copy FEN" });
    await copy.click();
    await heard.filter({ hasText: /opied/ }).waitFor();
    await copy.click();
    await expect.poll(() => page.evaluate("announcements")).toBe(2);
  });

  test("if a link contains only the start position, the page searches it only if the link also contains settings", async () => {
    const { page, state } = await open();
    const searches = searchesOf(page);
    await state.getByText("Press Analyse, or play a move").waitFor();
    await settle(page);
    expect(searches).toEqual([]);
    const { lines } = await open("#depth=4&search_moves=e4_d4");
    expect(await lines.first().getByRole("button").first().textContent()).toMatch(/^1\. [ed]4$/);
  });

  test("while the engine is switched off, only the Analyse button starts a search", async () => {
    const { page, move, start, lines, engine } = await open();
    const searches = searchesOf(page);
    await engine.uncheck();
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

  test("the Deeper button continues a finished search and keeps the shown lines", async () => {
    const { page, state, stop, lines } = await open("#moves=e4_e5&depth=5");
    await state.getByText("Depth 5", { exact: true }).waitFor();
    await page.getByRole("button", { name: "Deeper" }).click();
    await state.getByText(/^Depth ([6-9]|1\d|2\d) …$/).waitFor();
    expect(await lines.count()).toBe(1);
    await stop.click();
    await state.getByText("Stopped", { exact: true }).waitFor();
  });

  test("a search that reaches its time limit reports the limit and the depth", async () => {
    const { state } = await open("#moves=e4_e5&depth=30&movetime_ms=100");
    await state.getByText(/^Stopped at the time limit \(0\.1 s\), depth \d+ of 30$/).waitFor();
  });

  test("if only a time limits a search, the page asks for the greatest depth of the plan", async () => {
    const { page, state } = await open("#moves=e4_e5&movetime_ms=100");
    await state.getByText(/^Stopped at the time limit \(0\.1 s\), depth \d+ of 30$/).waitFor();
    const depth = page.getByRole("spinbutton", { name: "Depth" });
    expect(await depth.getAttribute("placeholder")).toBe("30");
    await page.getByRole("link", { name: "Game review" }).click();
    await page.getByText("Another game").click();
    expect(await depth.getAttribute("placeholder")).toBe(String(defaultDepth));
  });

  test("a result with a single depth has no graph of the score by depth", async () => {
    const { page } = await open("#moves=e4_e5&depth=1");
    await page.getByText(/^depth 1\/\d+ · .* nodes/).click();
    expect(await page.getByRole("img", { name: "Score by depth" }).count()).toBe(0);
  });

  test("the page repeats a request whose response has no evaluation", async () => {
    let asked = 0;
    const page = await kibitz.open({
      address: "#moves=e4&depth=2",
      prepare: (page) =>
        void page.route("**/StreamEvaluate", (route) => {
          asked++;
          const empty = { contentType: "application/connect+json", body: "\u0002\0\0\0\u0002{}" };
          return asked === 1 ? route.fulfill(empty) : route.continue();
        }),
    });
    await analysisOf(page).lines.first().waitFor();
    expect(asked).toBe(2);
  });

  test("a reviewed position is searched again only for a greater depth", async () => {
    const { page, state } = await open("#review&pgn=1._e4_e5_2._Nf3_*&ply=1&depth=4");
    await page.getByRole("table", { name: "Accuracy and mistakes" }).waitFor();
    const searches = searchesOf(page);
    await page.getByRole("link", { name: "Analysis" }).click();
    await state.getByText("Depth 4", { exact: true }).waitFor();
    await settle(page);
    expect(searches).toEqual([]);
    // The review assumes a score of the start position, and knows its best line.
    await page.keyboard.press("Home");
    await state.getByText("Depth 4", { exact: true }).waitFor();
    expect(await page.locator(".search-score").textContent()).toBe(
      await page.locator(".line-score").textContent(),
    );
    expect(searches).toEqual([]);
    await page.keyboard.press("ArrowRight");
    await page.getByRole("spinbutton", { name: "Depth" }).fill("5");
    await state.getByText("Depth 5", { exact: true }).waitFor();
    expect(searches).toHaveLength(1);
  });

  test("the page shows the name of the opening", async () => {
    const { page } = await open("#moves=e4_e5_Nf3_Nc6_Bc4&depth=2");
    await page.getByText("C50 Italian Game", { exact: true }).waitFor();
  });

  test("the move field accepts figurines, German piece letters, glyphs and lower-case letters", async () => {
    const { engine, move, moves } = await open();
    await engine.uncheck();
    await move.fill("1. e4! e5 2. nf3 ♞c6 3. Lb5 Sf6?! O-O");
    await move.press("Enter");
    await expect.poll(() => moves.allTextContents()).toEqual(["e4", "e5", "Nf3", "Nc6", "Bb5", "Nf6", "O-O"]);
  });

  test("the error about an illegal move disappears when the position changes", async () => {
    const { page, engine, move, square } = await open();
    const violation = page.getByText("“Qh5” is not a legal move here.");
    await engine.uncheck();
    await move.fill("Qh5");
    await move.press("Enter");
    await violation.waitFor();
    await clickAt(page, square("e2"));
    await clickAt(page, square("e4"));
    await violation.waitFor({ state: "detached" });
    expect(await move.getAttribute("aria-invalid")).toBe("false");
  });

  test("a typed promotion without a piece shows buttons for the pieces", async () => {
    const { page, move } = await open("#fen=8/4P1k1/8/8/8/8/8/4K3_w_-_-_0_1&depth=2");
    await move.fill("e8");
    await move.press("Enter");
    await page.getByRole("button", { name: "e8=N" }).click();
    await page.getByRole("gridcell", { name: "e8, White knight" }).waitFor();
  });

  test("a FEN can be pasted anywhere on the page", async () => {
    const { page, fen, heard } = await open("#depth=3");
    await paste(page, ` ${mateInOne}\n`);
    await page.getByRole("gridcell", { name: "e1, White rook" }).waitFor();
    expect(await fen.inputValue()).toBe(mateInOne);
    await heard.filter({ hasText: "White to move." }).waitFor();
    await expect.poll(() => page.url()).toContain("#fen=6k1/5ppp/8/8/8/8/5PPP/4R1K1_w_-_-_0_1");
  });

  test("a FEN that is pasted in the review opens in the analysis, and a PGN that is pasted in the analysis replaces the position", async () => {
    const { page, fen } = await open("#review");
    await page.getByRole("heading", { name: "Game review" }).waitFor();
    await paste(page, mateInOne);
    await page.getByRole("gridcell", { name: "e1, White rook" }).waitFor();
    expect(await fen.inputValue()).toBe(mateInOne);
    await paste(page, "1. e4 e5 2. Nf3 *");
    await expect
      .poll(() => page.getByRole("list", { name: "Moves" }).getByRole("button").allTextContents())
      .toEqual(["e4", "e5", "Nf3"]);
    await page.getByRole("heading", { name: "Analysis" }).waitFor();
  });

  test("a file with a FEN can be dropped anywhere on the page", async () => {
    const { page, fen } = await open("#depth=3");
    // Playwright cannot drag a file into the browser, so dispatch the event.
    await page.evaluate(`{
      const data = new DataTransfer();
      data.items.add(new File([${JSON.stringify(mateInOne)}], "position.fen"));
      document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
    }`);
    await page.getByRole("gridcell", { name: "e1, White rook" }).waitFor();
    expect(await fen.inputValue()).toBe(mateInOne);
  });

  test("the page marks the wrong part of an invalid FEN and explains the error", async () => {
    const { page, fen } = await open("#depth=3");
    await paste(page, "rnbqkbnr/ppppxppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1");
    const violation = page.getByRole("alert").filter({ hasText: "This FEN cannot be read" });
    await violation.waitFor();
    expect(await isInWindow(violation)).toBe(true);
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

  test("the message about an invalid FEN does not move the board, and can be closed", async () => {
    const { page, board } = await open("#moves=e4&depth=3");
    const before = await board.boundingBox();
    await paste(page, "rnbqkbnr/ppppxppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1");
    const violation = page.getByRole("alert").filter({ hasText: "This FEN cannot be read" });
    await violation.waitFor();
    expect(await board.boundingBox()).toEqual(before);
    await violation.getByRole("button", { name: "Close" }).click();
    await violation.waitFor({ state: "detached" });
    await page.getByRole("gridcell", { name: "e4, White pawn" }).waitFor();
  });

  test.each([
    ["a wrong en passant square", "4k3/8/8/8/8/8/8/4K2R w K e3 0 1", "4k3/8/8/8/8/8/8/4K2R w K - 0 1"],
    ["the operations of an EPD", "4k3/8/8/8/8/8/8/4K2R w K - bm Rh8;", "4k3/8/8/8/8/8/8/4K2R w K -"],
  ])("a button corrects a FEN with %s", async (_, text, corrected) => {
    const { page, fen } = await open("#depth=3");
    await fen.fill(text);
    await fen.press("Enter");
    await page.getByRole("button", { name: `Use ${corrected}` }).click();
    await page.getByRole("gridcell", { name: "h1, White rook" }).waitFor();
  });

  test("the clocks of a PGN are beside the moves", async () => {
    const pgn = "1. e4 { [%clk 1:30:00] } e5 { [%clk 0:00:09.4] } ( 1... c5 { [%clk 0:04:58] } ) 2. Nf3 *";
    const page = await kibitz.open({
      address: `#analysis&pgn=${encodeURIComponent(pgn).replaceAll("%20", "_")}&depth=2`,
    });
    const moves = page.getByRole("list", { name: "Moves" });
    for (const name of ["e4 , clock 1:30:00", "e5 , clock 0:09.4", "1… c5 , clock 4:58"]) {
      await moves.getByRole("button", { name, exact: true }).waitFor();
    }
  });

  test("a game can be copied and downloaded as PGN without an engine, with its tags, variations, comments, glyphs, arrows and clocks", async () => {
    const { page, engine, moves } = await open();
    await engine.uncheck();
    const pgn =
      '[White "Müller"]\n[Result "*"]\n\n{ Start } 1. e4 $1 { [%clk 0:05:00] } { [%cal Ge2e4] } ( { or } 1. d4 d5 ( 1... Nf6 $6 ) ) 1... e5 *\n';
    await paste(page, pgn);
    await moves.filter({ hasText: "Nf6" }).waitFor();
    expect(await copied(page, "Copy PGN")).toBe(pgn);
    expect(await downloadedPgn(page)).toBe(pgn);
  });

  test("the page executes no script in a FEN", async () => {
    const { page, fen } = await open("#depth=3");
    await fen.fill("<img/src=x/onerror=document.title='run'/> w - - 0 1");
    await fen.press("Enter");
    await page.getByText("This FEN cannot be read", { exact: true }).waitFor();
    expect(await page.locator("main img").count()).toBe(0);
    expect(await page.title()).not.toBe("run");
  });
});
describeWith("chromium")("the moves of a game", () => {
  const kibitz = usePage();
  const open = async (address: string) => {
    const page = await kibitz.open({ address, ...withClipboard });
    const used = analysisOf(page);
    return { page, ...used, current: page.locator(".move[aria-current]") };
  };

  test("a variation can be promoted and deleted, and Undo reverts each change", async () => {
    const { page, engine, move, moves, current } = await open("#moves=e4_e5_Nf3");
    await engine.uncheck();
    await page.getByRole("button", { name: "One move back" }).click();
    await move.fill("Bc4 Nf6");
    await move.press("Enter");
    const variation = page.locator(".move-variation");
    expect(await variation.textContent()).toBe("2. Bc4Nf6");
    expect(await moves.allTextContents()).toEqual(["e4", "e5", "Nf3", "2. Bc4", "Nf6"]);
    await page.getByRole("button", { name: "Make main line" }).click();
    expect(await variation.textContent()).toBe("2. Nf3");
    await moves.filter({ hasText: "Bc4" }).click();
    await page.getByRole("button", { name: "Delete from here" }).click();
    expect(await moves.allTextContents()).toEqual(["e4", "e5", "Nf3"]);
    expect(await current.textContent()).toBe("e5");
    await page.keyboard.press("Control+Z");
    expect(await variation.textContent()).toBe("2. Nf3");
    await page.getByRole("button", { name: "Undo" }).click();
    expect(await variation.textContent()).toBe("2. Bc4Nf6");
  });

  test("the move list has two columns of moves, and shows comments, glyphs and variations between the moves", async () => {
    const pgn = "{Start} 1. e4 {best by test} e5! (1... c5 $6 2. Nf3 (2. c3)) 2. Nf3 *";
    const { page, moves } = await open(`#review&pgn=${pgn.replaceAll(" ", "_")}`);
    await page.getByRole("link", { name: "Analysis" }).click();
    await page.getByText("best by test", { exact: true }).waitFor();
    expect(await page.getByRole("list", { name: "Moves" }).textContent()).toBe(
      "Start1e4best by test1…e5!1… c5?!2. Nf32. c32Nf3",
    );
    const [white, black] = await Promise.all([moves.nth(0).boundingBox(), moves.nth(1).boundingBox()]);
    expect(black?.x).toBeGreaterThan((white?.x ?? 0) + (white?.width ?? 0) - 1);
  });

  test("keys and the mouse wheel step through the game, and keys flip the board, play the best move, undo and show help", async () => {
    const { page, square, lines, current, moves } = await open("#moves=e4_e5_Nf3&depth=3");
    await lines.first().waitFor();
    await page.keyboard.press("Home");
    await expect.poll(() => current.count()).toBe(0);
    await page.keyboard.press("ArrowRight");
    await expect.poll(() => current.textContent()).toBe("e4");
    await page.locator(".board-drawn").hover();
    await page.mouse.wheel(0, 100);
    await expect.poll(() => current.textContent()).toBe("e5");
    await page.mouse.wheel(0, -100);
    await expect.poll(() => current.textContent()).toBe("e4");
    await page.keyboard.press("End");
    await expect.poll(() => current.textContent()).toBe("Nf3");
    const before = await square("a1").boundingBox();
    await page.keyboard.press("f");
    await expect.poll(async () => (await square("a1").boundingBox())?.y).toBeLessThan(before?.y ?? 0);
    await lines.first().waitFor();
    await page.keyboard.press("Space");
    await expect.poll(() => moves.count()).toBe(4);
    await page.keyboard.press("Control+Z");
    await expect.poll(() => moves.count()).toBe(3);
    await page.keyboard.press("?");
    const help = page.getByRole("dialog", { name: "Keys" });
    await help.getByText("Play the best move").waitFor();
    await page.keyboard.press("Escape");
    await help.waitFor({ state: "hidden" });
  });
});

describeWith("chromium")("a service with endgame tables", () => {
  const kibitz = usePage(useServiceInProcess({ KIBITZ_SYZYGY: tablesFolder }));
  beforeAll(() => verifyTablesOf(kibitz.url));

  test("an analysis shows the result that endgame tables know beside the score", async () => {
    const page = await kibitz.open({ address: `#fen=${rookHangs.replaceAll(" ", "_")}&depth=4` });
    const { score, state, heard } = analysisOf(page);
    await state.getByText("Depth 4", { exact: true }).waitFor();
    await page.locator(".search-result").getByText("White wins (tablebase)", { exact: true }).waitFor();
    expect(await score.getAttribute("aria-valuetext")).toMatch(/^\+\d\.\d\d$/);
    await heard.filter({ hasText: /Depth 4\. White wins \(tablebase\)\. Best move: R/ }).waitFor();
  });

  test("if the engine's line gives away the result of the tables, the page says so, and Space plays the move of the tables", async () => {
    const page = await kibitz.open({ address: `#fen=${rookHangs.replaceAll(" ", "_")}&depth=4` });
    const { lines, moves } = analysisOf(page);
    await page.getByText(/^The engine's move K\S+ could give away the result/).waitFor();
    expect(await lines.first().textContent()).toMatch(/^1\. K/);
    await page.keyboard.press("Space");
    await expect.poll(() => moves.allTextContents()).toEqual([expect.stringMatching(/^R/)]);
  });

  test("learning from mistakes judges by the results that endgame tables know, not by the score of the engine", async () => {
    const page = await kibitz.open({ address: "#review&depth=4&multipv=3" });
    const pgn = `[SetUp "1"]\n[FEN "${rookHangs}"]\n\n1. Ka2 Kxe4 *`;
    await page.getByLabel("A game in PGN").fill(pgn);
    await page.getByRole("button", { name: "Review the game" }).click();
    await page.getByRole("button", { name: "White (1)" }).waitFor();
    await page.keyboard.press("End");
    await page.keyboard.press("ArrowLeft");
    const comment = page.getByRole("region", { name: "Comment on the move" });
    await comment.getByRole("list", { name: /^Best line/ }).waitFor();
    expect(await comment.getByRole("list", { name: "Other moves" }).count()).toBe(0);
    await page.getByRole("button", { name: "White (1)" }).click();
    const panel = page.getByRole("region", { name: "Learn from your mistakes" });
    for (const [from, to, words] of [
      ["a1", "b1", "Kb1 is not good enough."],
      ["e4", "h4", /^.*Rh4 is right/],
    ] as const) {
      const board = page.getByRole("grid", { name: "Position before the mistake" });
      for (const square of [from, to]) {
        await clickAt(page, board.locator(`[data-square="${square}"]`));
      }
      await panel.getByText(words).waitFor();
      if (to === "b1") {
        await panel.getByRole("button", { name: "Try again" }).click();
      }
    }
    await page.getByRole("link", { name: "Analysis" }).click();
    await page.locator(".search-result").getByText("White wins (tablebase)", { exact: true }).waitFor();
  });

  test("a review shows the result after a move, and the results by which the move is judged", async () => {
    const page = await kibitz.open({ address: "#review&depth=4" });
    const moves = "1. Rh4 Kd6 2. Ra4 Kc5 3. Ka2 Kb5 4. Kb1 *";
    await page.getByLabel("A game in PGN").fill(`[SetUp "1"]\n[FEN "${rookHangs}"]\n\n${moves}`);
    await page.getByRole("button", { name: "Review the game" }).click();
    await page.getByRole("list", { name: "Moves" }).getByRole("button", { name: /^Kb1/ }).click();
    const comment = page.getByRole("region", { name: "Comment on the move" });
    await comment.getByText("Draw (tablebase)", { exact: true }).waitFor();
    await comment.getByText(/White wins \(tablebase\) → Draw \(tablebase\), accuracy/).waitFor();
  });
});
