import { expect, test } from "vitest";
import { describeWith } from "../support/needs.ts";
import { analysisOf, isInWindow, openFile, paste, withClipboard } from "./support/analysis-page.ts";
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
    await notice.filter({ hasText: "The pasted text has 2 positions. This is the first." }).waitFor();
    expect(await field.inputValue()).toBe(fen);
    await page.getByRole("button", { name: "Close" }).click();
    await expect.poll(() => notice.count()).toBe(0);
  });

  test.each(["Depth", "Move", "FEN"])(
    "a complete FEN or PGN that is pasted into the field %s is opened, and Undo restores the former board",
    async (name) => {
      const { page, fen: position, moves } = await open("#moves=d4&depth=3");
      const field = page.getByLabel(name, { exact: true });
      const before = await field.inputValue();
      for (const [text, opened] of [
        [fen, page.getByRole("gridcell", { name: "e1, White rook" })],
        ["1. e4 {best} e5 2. Nf3 *", moves.filter({ hasText: "Nf3" })],
      ] as const) {
        await field.click();
        await paste(page, text);
        await opened.waitFor();
        if (name !== "FEN") {
          expect(await field.inputValue()).toBe(before);
        }
        expect(await position.getAttribute("aria-invalid")).toBe("false");
        await page.getByRole("button", { name: "Undo" }).click();
        await page.getByRole("gridcell", { name: "d4, White pawn" }).waitFor();
      }
    },
  );

  test("a part of a game that is pasted into the move field stays in the field", async () => {
    const { page, move, moves } = await open("#moves=d4&depth=3");
    await move.click();
    await paste(page, "d5 c4");
    expect(await move.inputValue()).toBe("d5 c4");
    expect(await moves.count()).toBe(1);
  });

  test("a FEN that is pasted into the text field of the review or into the key field is only text", async () => {
    const { page } = await open("#review&depth=3");
    const field = page.getByLabel("A game in PGN");
    await field.click();
    await paste(page, fen);
    expect(await field.inputValue()).toBe(fen);
    await page.getByRole("heading", { name: "API call" }).click();
    const key = page.getByLabel("Key", { exact: true });
    await key.click();
    await paste(page, fen);
    expect(await key.inputValue()).toBe(fen);
    await page.getByRole("button", { name: "Review the game" }).click();
    await page.getByRole("gridcell", { name: "e1, White rook" }).waitFor();
  });

  test("a FEN that is pasted into the FEN field of the editor replaces the position of the editor", async () => {
    const { page } = await open();
    await page.getByRole("button", { name: "Set up" }).click();
    const field = page.getByRole("textbox", { name: "FEN" });
    await field.focus();
    await page.keyboard.press("End");
    await paste(page, fen);
    expect(await field.inputValue()).toBe(fen);
    await page.getByRole("grid", { name: "Board, being set up" }).getByLabel("e1, White rook").waitFor();
  });

  test("a click into the FEN field selects its text, and a second click sets the cursor", async () => {
    const { page, fen: field } = await open();
    await field.click();
    await page.keyboard.type("8/8 w");
    expect(await field.inputValue()).toBe("8/8 w");
    await field.click({ position: { x: 12, y: 12 } });
    await page.keyboard.type("7");
    expect(await field.inputValue()).toMatch(/^.*7.*8/);
    expect((await field.inputValue()).length).toBe(6);
  });

  test.each(["#depth=3", "#review&depth=3&pgn=1._e4_*"])(
    "on a telephone, a button of the view %s opens a field for a game or a position",
    async (address) => {
      const page = await kibitz.open({ address, size: { width: 360, height: 740 }, ...withClipboard });
      const button = page.getByRole("button", { name: "Open a game or a position" });
      await button.waitFor();
      expect(await isInWindow(button)).toBe(true);
      await button.click();
      const field = page.getByLabel("A game in PGN");
      await expect.poll(() => isInWindow(field)).toBe(true);
      await page.keyboard.insertText(`FEN: ${fen}`);
      await field.press("Tab");
      await page.keyboard.press("Enter");
      await page.getByRole("gridcell", { name: "e1, White rook" }).waitFor();
      expect(await field.isVisible()).toBe(false);
    },
  );

  test("on a telephone, the open field stays in the window when a review arrives", async () => {
    const answer = Promise.withResolvers<void>();
    const page = await kibitz.open({
      address: "#review&depth=3&pgn=1._e4_e5_2._Nf3_Nc6_*",
      size: { width: 360, height: 740 },
      ownTab: true,
      prepare: async (tab) => {
        await tab.route("**/ReviewGame", async (route) => {
          await answer.promise;
          await route.continue();
        });
      },
    });
    await page.getByRole("button", { name: "Open a game or a position" }).click();
    const field = page.getByLabel("A game in PGN");
    await expect.poll(() => isInWindow(field)).toBe(true);
    answer.resolve();
    await page.getByRole("table", { name: "Accuracy and mistakes" }).waitFor();
    // After the next frame has been drawn.
    await page.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done)))");
    expect(await isInWindow(field)).toBe(true);
  });

  test("New analysis begins at the start position, and Undo restores the former game", async () => {
    const { page, moves } = await open("#moves=e4_e5&depth=3");
    await page.getByRole("gridcell", { name: "e5, Black pawn" }).waitFor();
    await page.getByRole("button", { name: "New analysis" }).click();
    await page.getByRole("gridcell", { name: "e7, Black pawn" }).waitFor();
    expect(await moves.count()).toBe(0);
    await page.getByRole("button", { name: "Undo" }).click();
    expect(await moves.allTextContents()).toEqual(["e4", "e5"]);
  });

  test("a file that is dragged over the analysis shows a mark, opens there, and starts no review", async () => {
    const { page, moves } = await open();
    const reviews: string[] = [];
    page.on("request", (request) => request.url().endsWith("/ReviewGame") && reviews.push(request.url()));
    const event = (type: string) =>
      page.evaluate(`{
        const dataTransfer = new DataTransfer();
        dataTransfer.items.add(new File(["1. e4 e5 2. Nf3 *"], "game.pgn"));
        document.body.dispatchEvent(new DragEvent("${type}", { dataTransfer, bubbles: true, cancelable: true }));
      }`);
    const mark = page.getByText("Drop the file here");
    await event("dragover");
    await mark.waitFor();
    await event("drop");
    await moves.filter({ hasText: "Nf3" }).waitFor();
    await mark.waitFor({ state: "detached" });
    await page.getByRole("heading", { name: "Analysis" }).waitFor();
    expect(reviews).toEqual([]);
  });

  test("every game of a file can be reached, also by its number, and the list survives a reload", async () => {
    const { page, moves } = await open();
    await page.getByRole("button", { name: "Open a game or a position" }).click();
    const games = Array.from(
      { length: 80 },
      (_, index) => `[Round "${index + 1}"]\n\n1. ${index === 76 ? "b4" : "e4"} *\n`,
    );
    await openFile(page, Buffer.from(games.join("\n")));
    const list = page.getByRole("group").filter({ hasText: "80 games in this text" });
    const rows = list.getByRole("listitem");
    await expect.poll(() => rows.count()).toBe(50);
    await list.getByRole("button", { name: "Show more (30)" }).click();
    await expect.poll(() => rows.count()).toBe(80);
    await page.reload();
    await expect.poll(() => rows.count()).toBe(50);
    await list.getByLabel("Find by number").fill("#77");
    await expect.poll(() => rows.first().textContent()).toMatch(/^Game 77/);
    await rows.first().getByRole("button").click();
    await expect.poll(() => moves.allTextContents()).toEqual(["b4"]);
    await page.getByText("80 games in this text").click();
    await rows.first().waitFor();
  });

  test("while a list of games is shown, the button of the text field does not open a former game", async () => {
    const { page } = await open("#review&depth=3");
    const field = page.getByLabel("A game in PGN");
    await field.fill("1. d4 d5 *");
    await openFile(page, Buffer.from('[White "A"]\n\n1. e4 *\n\n[White "B"]\n\n1. c4 *\n'));
    await page.getByText("2 games in this text").waitFor();
    expect(await field.inputValue()).toBe("");
    expect(await page.getByRole("button", { name: "Review the game" }).isDisabled()).toBe(true);
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
