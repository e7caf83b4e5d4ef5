import { text } from "node:stream/consumers";
import type { Locator, Page } from "playwright-core";
import { expect, test } from "vitest";
import { describeWith } from "../support/needs.ts";
import { startRelay } from "../support/relay.ts";
import {
  clickAt,
  copied,
  downloadedPgn,
  openFile,
  openShare,
  withClipboard,
} from "./support/analysis-page.ts";
import { usePage } from "./support/open-page.ts";
import { reviewScene } from "./support/scenes.ts";

const short = `[Event "Paris Opera"]
[Date "1858.11.02"]
[White "Paul Morphy"]
[Black "Duke Karl"]
[Result "1-0"]

1. e4 { [%clk 0:05:00] } e5 { [%clk 0:04:58] } 2. Nf3 d6 3. d4 Bg4 4. dxe5 Bxf3 5. Qxf3 dxe5 6. Bc4 Nf6 7. Qb3 Ke7 1-0
`;
const mate = '[White "Nobody"]\n[Black "Somebody"]\n\n1. f3 e5 2. g4 Qh4# 0-1\n';
const annotated = "1. e4 {BEST BY TEST} e5! (1... c5 2. Nf3) 2. Nf3 $2 Nc6 *";

interface Player {
  readonly accuracy: number;
  readonly phases: Readonly<
    Record<"opening" | "middlegame" | "endgame", { readonly accuracy: number } | null>
  >;
  readonly inaccuracies: number;
  readonly mistakes: number;
  readonly blunders: number;
}

interface Answer {
  readonly players: { readonly white: Player; readonly black: Player };
  readonly moves: readonly {
    readonly ply: number;
    readonly judgement: string | null;
    readonly move: { readonly uci: string; readonly to: string };
    readonly best: { readonly move: { readonly uci: string } } | null;
  }[];
}

describeWith("chromium")("the review of a game", () => {
  const kibitz = usePage();

  async function openReview(depth: number, base?: string): Promise<Page> {
    const page = await kibitz.open({ address: "#review", ...(base !== undefined && { base }) });
    await page.getByLabel("Depth").fill(String(depth));
    return page;
  }

  async function review(page: Page, pgn: string): Promise<void> {
    await page.getByLabel("A game in PGN").fill(pgn);
    await page.getByRole("button", { name: "Review the game" }).click();
  }

  async function reviewOf(pgn: string, depth: number): Promise<unknown> {
    const answer = await fetch(`${kibitz.url}/v1/review`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ pgn, depth }),
    });
    return await answer.json();
  }

  const graphOf = (page: Page) => page.getByRole("slider", { name: "White’s chances" });
  const isDone = (page: Page) => page.getByRole("table", { name: "Accuracy and mistakes" }).waitFor();
  const commentOf = (page: Page) => page.getByRole("region", { name: "Comment on the move" });
  const movesOf = (page: Page) => page.getByRole("list", { name: "Moves" });

  /** Pastes a text outside text fields, or drops a file. */
  async function bring(page: Page, how: "paste" | "drop", text: string, name = "games.pgn"): Promise<void> {
    const event =
      how === "paste"
        ? `data.setData("text/plain", ${JSON.stringify(text)});
           const event = new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true });`
        : `data.items.add(new File([${JSON.stringify(text)}], ${JSON.stringify(name)}));
           const event = new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true });`;
    await page.evaluate(
      `{ const data = new DataTransfer(); ${event} document.querySelector("main h2").dispatchEvent(event); }`,
    );
  }

  test("a review shows its progress; a move can be selected by key, in the graph and in the move list", async () => {
    const page = await openReview(8);
    // Record every progress text, because Playwright may miss a short one.
    await page.evaluate(
      `globalThis.progress = new Set();
       new MutationObserver(() => {
         const [text] = /\\d+ of 14 positions/.exec(document.querySelector("main").textContent) ?? [];
         if (text) progress.add(text);
       }).observe(document.querySelector("main"), { subtree: true, childList: true, characterData: true });`,
    );
    await review(page, short);
    const graph = graphOf(page);
    await isDone(page);
    expect((await page.evaluate<readonly string[]>("[...progress]")).length).toBeGreaterThan(2);
    expect(await graph.getAttribute("max")).toBe("14");
    await page.getByText(/^C41 Philidor/).waitFor();
    await page.getByRole("heading", { name: "Paul Morphy 1–0 Duke Karl" }).waitFor();

    await page.keyboard.press("ArrowRight");
    await page.getByRole("grid", { name: "Position after 1. e4" }).waitFor();
    await page.getByText("Clock 5:00", { exact: true }).waitFor();
    await page.keyboard.press("End");
    await page.getByRole("grid", { name: "Position after 7… Ke7" }).waitFor();
    await page
      .getByRole("status")
      .filter({ hasText: /^7… Ke7, (mistake|blunder), .* for White\.$/ })
      .waitFor();
    await page.getByText(/^(Mistake|Blunder)\. \S+ was best\./).waitFor();
    await page.keyboard.press("Home");
    await page.getByRole("grid", { name: "Start of the game" }).waitFor();
    await page.keyboard.press("Shift+ArrowRight");
    expect(await movesOf(page).locator("[aria-current]").textContent()).toMatch(
      /, (inaccuracy|mistake|blunder)/,
    );

    await movesOf(page).getByRole("button", { name: /^Qxf3/ }).click();
    await page.getByRole("grid", { name: "Position after 5. Qxf3" }).waitFor();
    expect(await graph.inputValue()).toBe("9");
    const box = await graph.boundingBox();
    await graph.click({ position: { x: ((box?.width ?? 0) * 3) / 14, y: 20 } });
    await page.getByRole("grid", { name: "Position after 2. Nf3" }).waitFor();
    await page.keyboard.press("ArrowRight");
    expect(await graph.getAttribute("aria-valuetext")).toMatch(/^2… d6, White’s chances \d+%$|^2… d6, \w+, /);
    expect(await page.locator(".graph-tip").textContent()).toMatch(/^2… d6\S* [+−]\d\.\d\d$/);
  });

  test("the graph shows the move under the pointer and its evaluation, inside the edges of the graph", async () => {
    const page = await openReview(5);
    await review(page, short);
    await isDone(page);
    const graph = graphOf(page);
    const box = await graph.boundingBox();
    const [left, right] = [box?.x ?? 0, (box?.x ?? 0) + (box?.width ?? 0)];
    for (const [share, words] of [
      [0.01, /^Start$/],
      [0.5, /^4\. dxe5\S* [+−]\d/],
      [0.99, /^7… Ke7\S* [+−]\d/],
    ] as const) {
      await page.mouse.move(left + (right - left) * share, (box?.y ?? 0) + 20);
      const tip = page.locator(".graph-tip");
      await tip.filter({ hasText: words }).waitFor();
      const at = await tip.boundingBox();
      expect(at?.x).toBeGreaterThanOrEqual(left - 1);
      expect((at?.x ?? 0) + (at?.width ?? 0)).toBeLessThanOrEqual(right + 1);
    }
    await page.mouse.move(0, 0);
    await page.locator(".graph-tip").waitFor({ state: "detached" });
  });

  test.each([
    { width: 360, height: 740 },
    { width: 820, height: 1180 },
    { width: 740, height: 360 },
    { width: 640, height: 400 },
    { width: 1280, height: 800 },
  ])("the board and the comment are visible together at $width × $height", async (size) => {
    const page = await kibitz.open({ address: "#review", size });
    await page.getByLabel("Depth").fill("5");
    await review(page, short);
    await isDone(page);
    await page.evaluate("scrollTo(0, 0)");
    await page.keyboard.press("End");
    const boxOf = async (part: Locator) => (await part.boundingBox()) ?? expect.fail(`${part} is not shown`);
    const board = await boxOf(page.getByRole("grid", { name: "Position after 7… Ke7" }));
    const comment = await boxOf(page.getByText(/^(Mistake|Blunder)\. \S+ was best\./));
    expect(comment.y + comment.height).toBeLessThanOrEqual(size.height);
    expect(Math.min(size.height, board.y + board.height) - board.y).toBeGreaterThan(board.height * 0.95);
    if (size.width < size.height) {
      const steps = await boxOf(page.getByRole("group", { name: "Steps" }));
      const [graph, moves] = [await boxOf(graphOf(page)), await boxOf(movesOf(page))];
      expect(moves.y).toBeGreaterThan(steps.y);
      // A tablet has the moves beside the comment.
      const below = size.width < 500 ? [graph, moves] : [graph];
      const tops = [board, steps, comment, ...below].map(({ y }) => y);
      expect(tops).toEqual(tops.toSorted((one, other) => one - other));
    } else {
      expect(comment.x).toBeGreaterThan(board.x + board.width);
    }
  });

  test("after a change of the settings, the game can be reviewed again", async () => {
    const page = await openReview(2);
    await review(page, mate);
    await isDone(page);
    const again = page.getByRole("button", { name: "Review again" });
    expect(await again.count()).toBe(0);
    await page.getByLabel("Depth", { exact: true }).fill("3");
    await again.click();
    await page.getByText(/, depth 3, 4 positions/).waitFor();
    expect(await again.count()).toBe(0);
  });

  test("the user can try moves of the best line and moves on the board, and tried moves are evaluated and exported", async () => {
    const page = await openReview(8);
    await page.getByLabel("Alternatives").selectOption({ label: "1" });
    await review(page, short);
    await isDone(page);
    await page.keyboard.press("End");
    const line = page.getByRole("list", { name: /^Best line/ });
    await page.getByRole("list", { name: "Other moves" }).getByRole("button").first().waitFor();
    const best = await line.getByRole("button").first().textContent();
    await line.getByRole("button").nth(1).click();
    const comment = commentOf(page);
    await comment.getByText(/^8\. \S+$/).waitFor();
    await comment
      .getByText(/^[+−]\d+\.\d\d$/)
      .first()
      .waitFor();
    await page.keyboard.press("ArrowLeft");
    const tried = `${best}`.replace(/^7… /, "");
    await page.getByRole("grid", { name: `Position after 7… ${tried}` }).waitFor();
    expect(await comment.locator("strong").first().textContent()).toBe(`7… ${tried}`);
    await page.getByRole("button", { name: "Back to the game" }).click();
    await page.getByRole("grid", { name: "Position after 7. Qb3" }).waitFor();

    await page.keyboard.press("Home");
    await page.mouse.move(0, 0);
    await clickAt(page, page.locator('[data-square="d2"]'));
    await clickAt(page, page.locator('[data-square="d4"]'));
    await page.getByRole("grid", { name: "Position after 1. d4" }).waitFor();
    const pgn = await downloadedPgn(page);
    expect(pgn).toContain("( 1. d4 )");
    expect(pgn).toContain("[%eval");

    await page.getByRole("button", { name: "Analyse this position" }).click();
    await page.getByRole("heading", { name: "Analysis" }).waitFor();
    await page.goBack();
    await page.getByRole("grid", { name: "Position after 1. d4" }).waitFor();
  });

  test("the downloaded PGN of a review is equal to the PGN in the API's response", async () => {
    const page = await openReview(5);
    await review(page, short);
    await isDone(page);
    await openShare(page);
    const downloading = page.waitForEvent("download");
    await page.getByRole("link", { name: "Download PGN" }).click();
    const download = await downloading;
    expect(download.suggestedFilename()).toBe("Paul-Morphy-Duke-Karl-1858.11.02.pgn");
    const { pgn } = (await reviewOf(short, 5)) as { readonly pgn: string };
    expect(pgn).toContain("[%eval");
    expect(await text(await download.createReadStream())).toBe(pgn);
  });

  test("after a move of a reviewed game is deleted, the figures are hidden, and the export has only the moves that are shown", async () => {
    const page = await openReview(5);
    await review(page, short);
    await isDone(page);
    const table = page.getByRole("table", { name: "Accuracy and mistakes" });
    await movesOf(page).getByRole("button", { name: /^d4/ }).click();
    await page.getByRole("button", { name: "Delete from here" }).click();
    await page.getByText("The game has changed since its review.").waitFor();
    await table.waitFor({ state: "detached" });
    expect(await graphOf(page).getAttribute("max")).toBe("4");
    const pgn = await downloadedPgn(page);
    expect(pgn).toContain("[%eval");
    expect(pgn).toContain("d6");
    expect(pgn).not.toContain("d4");
    await page.getByRole("button", { name: "Review again" }).click();
    await isDone(page);
    await page.getByText(/, 5 positions/).waitFor();
    expect(await downloadedPgn(page)).not.toContain("d4");
  });

  test("if a variation becomes the main line, the export begins with it, and the user can review the game again", async () => {
    const page = await openReview(3);
    await review(page, annotated);
    await isDone(page);
    await movesOf(page).getByRole("button", { name: "1… c5" }).click();
    await page.getByRole("button", { name: "Make main line" }).click();
    await page.getByText("The game has changed since its review.").waitFor();
    expect(await downloadedPgn(page)).toMatch(/1\. e4 .* c5 \( 1\.\.\. e5/);
    await page.getByRole("button", { name: "Review again" }).click();
    await isDone(page);
    await movesOf(page)
      .getByRole("button", { name: /^c5 *[+−\d]/ })
      .waitFor();
  });

  test("a file in an older encoding is read as Windows-1252, and after another choice the page and the export have the right letters", async () => {
    const page = await openReview(2);
    const game = (white: string, black: string) => `[White "${white}"]\n[Black "${black}"]\n\n1. e4 e5 1-0\n`;
    await openFile(page, Buffer.from(game("Müller", "Jørgen"), "latin1"));
    await page.getByRole("heading", { name: "Müller 1–0 Jørgen" }).waitFor();
    const choice = page.getByRole("combobox", { name: "The file does not name its encoding" });
    expect(await choice.inputValue()).toBe("windows-1252");
    await isDone(page);
    expect(await downloadedPgn(page)).toContain('[White "Müller"]\n[Black "Jørgen"]');

    const cyrillic = Buffer.from(game("????", "?"), "latin1");
    cyrillic.set([0xd2, 0xe0, 0xeb, 0xfc], cyrillic.indexOf("????"));
    await openFile(page, cyrillic);
    await page.getByRole("heading", { name: "Òàëü 1–0 Black" }).waitFor();
    await choice.selectOption({ label: "Cyrillic (Windows-1251)" });
    await page.getByRole("heading", { name: "Таль 1–0 Black" }).waitFor();
    await isDone(page);
    expect(await downloadedPgn(page)).toContain('[White "Таль"]');
    await page.reload();
    await page.getByRole("heading", { name: "Таль 1–0 Black" }).waitFor();
    expect(await choice.inputValue()).toBe("windows-1251");
    await openFile(page, Buffer.from(`\ufeff${game("Müller", "Jørgen")}`, "utf16le"));
    await page.getByRole("heading", { name: "Müller 1–0 Jørgen" }).waitFor();
    expect(await choice.count()).toBe(0);
  });

  test("the author's own marks stay in the move list after a review, as in the export", async () => {
    const page = await openReview(4);
    await review(page, "1. e4?! e5 2. Nf3 f6? 3. Nxe5 *");
    await isDone(page);
    const moves = movesOf(page);
    await moves.getByRole("button", { name: /^e4.*\?!/ }).waitFor();
    await moves.getByRole("button", { name: /^f6.*[^?]\?(?!\?)/ }).waitFor();
    const pgn = await downloadedPgn(page);
    expect(pgn).toContain("e4 $6");
    expect(pgn).toContain("f6 $2");
  });

  test("a link that is copied in a variation opens the position of the variation", async () => {
    const page = await kibitz.open({ address: "#review&depth=3", ...withClipboard });
    await review(page, annotated);
    await isDone(page);
    await movesOf(page).getByRole("button", { name: "Nf3" }).first().click();
    await page.getByRole("grid", { name: "Position after 2. Nf3" }).waitFor();
    const link = new URL(await copied(page, "Copy link"));
    const other = await kibitz.open({ address: link.hash, ownTab: true });
    await isDone(other);
    await other.getByRole("gridcell", { name: "c5, Black pawn" }).waitFor();
    await other.getByRole("gridcell", { name: "f3, White knight" }).waitFor();
  });

  test("a reload keeps an invalid PGN in the text field", async () => {
    const page = await openReview(2);
    await review(page, "1. e4 e5 2. Ke3 *");
    await page.getByText("'Ke3'").first().waitFor();
    await page.reload();
    await expect.poll(() => page.getByLabel("A game in PGN").inputValue()).toBe("1. e4 e5 2. Ke3 *");
  });

  test("a review is restored after a reload and from its link", async () => {
    const page = await openReview(5);
    await review(page, short);
    await isDone(page);
    await page.keyboard.press("End");
    await page.getByRole("grid", { name: "Position after 7… Ke7" }).waitFor();
    await expect.poll(() => page.url()).toContain("pgn=");
    await page.reload();
    await isDone(page);
    await page.getByRole("grid", { name: "Position after 7… Ke7" }).waitFor();
    await page.getByText(/^Stockfish .*depth 5, 15 positions \(15 from cache\)$/).waitFor();
    const other = await kibitz.open({ address: new URL(page.url()).hash, ownTab: true });
    await isDone(other);
    await other.getByRole("heading", { name: "Paul Morphy 1–0 Duke Karl" }).waitFor();
  });

  test.each([
    ["1. f3 e5 2. g4 Qh4# 0-1", "White 0–1 Black"],
    ["1. e4 e5 1/2-1/2", "White ½–½ Black"],
    ["1. e4 e5 2. Bc4 Nc6 3. Qh5 Nf6 4. Qxf7#", "White 1–0 Black"],
  ])("the header shows the result of a game without tags: %s", async (pgn, heading) => {
    const page = await openReview(2);
    await review(page, pgn);
    await page.getByRole("heading", { name: heading }).waitFor();
    await isDone(page);
  });

  test("the review shows comments, glyphs and variations of a PGN", async () => {
    const page = await openReview(2);
    await review(page, annotated);
    await isDone(page);
    const moves = movesOf(page);
    await moves.getByText("BEST BY TEST").waitFor();
    await moves.getByRole("button", { name: /^e5.*!/ }).waitFor();
    await moves.getByRole("button", { name: "1… c5" }).click();
    await page.getByRole("grid", { name: "Position after 1… c5" }).waitFor();
    await page.keyboard.press("Home");
    await page.keyboard.press("ArrowRight");
    await commentOf(page).getByText("BEST BY TEST").waitFor();
  });

  test("a new review replaces the judgements of an earlier review in the move list and in the comment", async () => {
    const page = await openReview(8);
    await review(page, "1. e4 e5 2. Qh5 $6 { Fast. (0.30 → -0.40) Inaccuracy. Nf3 was best. } Nc6 *");
    await isDone(page);
    await movesOf(page).getByRole("button", { name: "Qh5" }).click();
    await expect.poll(() => commentOf(page).innerText()).toContain("Fast.");
    expect(await commentOf(page).innerText()).not.toContain("0.30 → -0.40");
    const moves = await movesOf(page).innerText();
    expect(moves).toContain("Fast.");
    expect(moves).not.toContain("0.30 → -0.40");
  });

  test("the summary and the move list write Black's moves in the same format", async () => {
    const page = await openReview(4);
    await bring(page, "paste", mate);
    await isDone(page);
    await page.getByRole("heading", { name: "Nobody 0–1 Somebody" }).waitFor();
    await commentOf(page)
      .getByText(/the game turned at 2\. g4 \(blunder\)\.$/)
      .waitFor();
    await bring(page, "paste", short);
    await page.getByRole("heading", { name: "Paul Morphy 1–0 Duke Karl" }).waitFor();
    await isDone(page);
    const said = page.getByRole("main");
    await commentOf(page)
      .getByText(/the game turned at \d… \S+ \((mistake|blunder)\)\.$/)
      .waitFor();
    expect(await said.textContent()).not.toMatch(/\d\.\.\./);
  });

  test("a dropped file with two games shows a list, and the user can review each game", async () => {
    const page = await openReview(4);
    await bring(page, "drop", `${short}\n${mate}`);
    await page.getByText("2 games in this text").waitFor();
    await page.getByRole("button", { name: /Nobody – Somebody/ }).click();
    await isDone(page);
    await page.getByRole("heading", { name: "Nobody 0–1 Somebody" }).waitFor();
    await page.getByText("2 games in this text").click();
    await page.getByRole("button", { name: /Paul Morphy – Duke Karl/ }).click();
    await page.getByRole("heading", { name: "Paul Morphy 1–0 Duke Karl" }).waitFor();
    await isDone(page);
  });

  test("a dropped file without a game only shows a message", async () => {
    const page = await openReview(4);
    await bring(page, "drop", `${short}\n{${" ".repeat(1_500_000)}}\n${mate}`);
    await page.getByText("2 games in this text").waitFor();
    await page.getByRole("button", { name: /Nobody – Somebody/ }).click();
    await isDone(page);
    await bring(page, "drop", "PNG", "x.png");
    const notice = page.getByRole("alert").filter({ hasText: "x.png contains no chess game." });
    await notice.waitFor();
    await page.getByRole("heading", { name: "Nobody 0–1 Somebody" }).waitFor();
    await bring(page, "paste", short);
    await page.getByRole("heading", { name: "Paul Morphy 1–0 Duke Karl" }).waitFor();
    await notice.waitFor({ state: "detached" });
    await isDone(page);
  });

  test("the review reports the line and column of an illegal move, and marks the move", async () => {
    const page = await openReview(4);
    const wrong = '[White "A"]\n\n1. e4 e5\n2. Ke3 Nf6 *';
    await review(page, wrong);
    await page
      .getByRole("main")
      .getByText(/'Ke3' is not a legal move.*line 4, column 4/)
      .waitFor();
    expect(await page.locator("mark").textContent()).toBe("Ke3");
    const message = await page
      .getByText(/'Ke3' is not a legal move/)
      .first()
      .textContent();
    expect(message).toContain("move 2");
    expect(message).not.toMatch(/ply|rnbqkbnr/);
    const field = page.getByLabel("A game in PGN");
    expect(await field.getAttribute("aria-invalid")).toBe("true");
    const selected = await page.evaluate(
      "document.activeElement.value.slice(document.activeElement.selectionStart, document.activeElement.selectionEnd)",
    );
    expect(selected).toBe("Ke3");
    await page.getByRole("button", { name: "Review the game up to there" }).click();
    await isDone(page);
    expect(await movesOf(page).getByRole("button").count()).toBe(2);
  });

  test("a game with German piece letters is reviewed in English letters after a click", async () => {
    const page = await openReview(4);
    await review(page, "1. e4 e5 2. Sf3 Sc6 3. Lc4 *");
    await page.getByRole("button", { name: "Review it in English letters" }).click();
    await isDone(page);
    expect(await page.getByLabel("A game in PGN").inputValue()).toBe("1. e4 e5 2. Nf3 Nc6 3. Bc4 *");
    expect(await movesOf(page).getByRole("button").allTextContents()).toHaveLength(5);
  });

  test("a review can be stopped and resumed", async () => {
    const page = await openReview(16);
    await review(page, short);
    await page
      .getByRole("main")
      .getByText(/^[1-9]\d* of 14 positions$/)
      .waitFor();
    await page.getByRole("button", { name: "Stop" }).click();
    await page
      .getByRole("main")
      .getByText(/^Stopped after \d+ of 14 positions$/)
      .waitFor();
    await page.getByRole("button", { name: "Resume" }).click();
    await page
      .getByRole("main")
      .getByText(/^[1-9]\d* of 14 positions$/)
      .waitFor();
    await page.getByRole("button", { name: "Stop" }).click();
  });

  test("a review continues automatically after a lost connection", async () => {
    await using relay = await startRelay(Number(new URL(kibitz.url).port));
    const page = await openReview(14, `http://127.0.0.1:${relay.port}/`);
    await review(page, short);
    await page
      .getByRole("main")
      .getByText(/^[1-9]\d* of 14 positions$/)
      .waitFor();
    relay.isRefusing = true;
    relay.reset();
    await page.getByText(/^Goes on in /).waitFor();
    relay.isRefusing = false;
    await isDone(page);
    expect(await graphOf(page).getAttribute("max")).toBe("14");
  });

  test("the review shows the accuracies of the API, and each judgement on the board with an arrow for the better move", async () => {
    const page = await kibitz.open({ address: reviewScene.address });
    await reviewScene.reach(page);
    const pgn = await page.getByLabel("A game in PGN").inputValue();
    const answer = (await reviewOf(pgn, 8)) as Answer;
    const table = page.getByRole("table", { name: "Accuracy and mistakes" });
    const { white, black } = answer.players;
    const cells = async (name: string) =>
      (
        await table
          .getByRole("row", { name: new RegExp(`^${name}`) })
          .getByRole("cell")
          .allTextContents()
      ).join();
    const accuracies = (of: (player: Player) => number | undefined) =>
      [white, black].map((player) => `${of(player)?.toFixed(1)}%`).join();
    await page.getByText("Bad moves and sharp positions weigh more in the accuracy of the game").waitFor();
    expect(await cells("Accuracy")).toBe(accuracies(({ accuracy }) => accuracy));
    expect(await cells("Mean of the moves in the opening")).toBe(
      accuracies(({ phases }) => phases.opening?.accuracy),
    );
    expect(await cells("Mean of the moves in the middlegame")).toBe(
      accuracies(({ phases }) => phases.middlegame?.accuracy),
    );
    for (const [row, field] of [
      ["Inaccuracies", "inaccuracies"],
      ["Mistakes", "mistakes"],
      ["Blunders", "blunders"],
    ] as const) {
      expect(await cells(row)).toBe(`${white[field]},${black[field]}`);
    }

    const judged = answer.moves.filter(({ judgement }) => judgement !== null);
    expect(judged.length).toBeGreaterThan(0);
    await page.getByRole("slider", { name: "White’s chances" }).press("Home");
    for (const { move, judgement } of judged) {
      await page.getByRole("button", { name: "Next mistake" }).click();
      const sign = page.locator(".cg-custom-svgs text");
      const signs: Readonly<Record<string, string>> = { inaccuracy: "?!", mistake: "?", blunder: "??" };
      await expect.poll(() => sign.textContent()).toBe(signs[judgement ?? ""]);
      // Chessground draws later than Preact, so the previous sign may still be visible.
      const distance = async () => {
        const at = await page.locator(".cg-custom-svgs circle").boundingBox();
        const square = await page.locator(`[data-square="${move.to}"]`).boundingBox();
        const [x, y] = [(at?.x ?? 0) - (square?.x ?? 0), (at?.y ?? 0) - (square?.y ?? 0)];
        return Math.max(Math.abs(x), Math.abs(y)) / (square?.width ?? 0);
      };
      await expect.poll(distance, { message: move.to }).toBeLessThan(1);
      await expect.poll(() => page.locator(".cg-shapes line, cg-board + svg line").count()).toBe(1);
    }
  });
});
