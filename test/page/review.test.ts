import { text } from "node:stream/consumers";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { describeWith } from "../support/needs.ts";
import { startRelay } from "../support/relay.ts";
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

  /** Opens the review, so that the next one takes a moment. */
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
  const isDone = (page: Page) => page.getByRole("button", { name: "Download the PGN" }).waitFor();

  /** As somebody does who pastes outside of any field, or drops a file. */
  async function bring(page: Page, how: "paste" | "drop", text: string): Promise<void> {
    const event =
      how === "paste"
        ? `data.setData("text/plain", ${JSON.stringify(text)});
           const event = new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true });`
        : `data.items.add(new File([${JSON.stringify(text)}], "games.pgn"));
           const event = new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true });`;
    await page.evaluate(
      `{ const data = new DataTransfer(); ${event} document.querySelector("main h2").dispatchEvent(event); }`,
    );
  }

  test("a review fills ply by ply, and is stepped through by keys, by the graph and by the list of moves", async () => {
    const page = await openReview(8);
    // It may be there for less than a look from outside takes.
    await page.evaluate(
      `globalThis.progress = new Set();
       new MutationObserver(() => {
         const [told] = /\\d+ of 14 moves/.exec(document.querySelector("main").textContent) ?? [];
         if (told) progress.add(told);
       }).observe(document.querySelector("main"), { subtree: true, childList: true, characterData: true });`,
    );
    await review(page, short);
    const graph = graphOf(page);
    await isDone(page);
    expect((await page.evaluate<readonly string[]>("[...progress]")).length).toBeGreaterThan(2);
    expect(await graph.getAttribute("aria-valuemax")).toBe("14");
    await page.getByText(/^C41 Philidor/).waitFor();
    await page.getByRole("heading", { name: "Paul Morphy 1–0 Duke Karl" }).waitFor();

    await page.keyboard.press("ArrowRight");
    await page.getByRole("grid", { name: "Position after 1. e4" }).waitFor();
    await page.getByText("Clock 5:00").waitFor();
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
    expect(await page.locator(".moves-table [aria-current]").textContent()).toMatch(
      /, (inaccuracy|mistake|blunder)/,
    );

    await page.getByRole("cell", { name: /^Qxf3/ }).getByRole("button").click();
    await page.getByRole("grid", { name: "Position after 5. Qxf3" }).waitFor();
    expect(await graph.getAttribute("aria-valuenow")).toBe("9");
    const box = await graph.boundingBox();
    await graph.click({ position: { x: ((box?.width ?? 0) * 3) / 14, y: 20 } });
    await page.getByRole("grid", { name: "Position after 2. Nf3" }).waitFor();
    await page.keyboard.press("ArrowRight");
    expect(await graph.getAttribute("aria-valuetext")).toMatch(/^2… d6, White’s chances \d+%$|^2… d6, \w+, /);
  });

  test("a review plays the best line on the board, and leads to the analysis of the position that is shown", async () => {
    const page = await openReview(8);
    await page.getByLabel("Lines").selectOption("2");
    await review(page, short);
    await isDone(page);
    await page.keyboard.press("End");
    await page.getByText(/^Other moves: \S+ [+−#]/).waitFor();
    const line = page.getByRole("list", { name: /^Best line/ });
    await line.getByRole("button").first().click();
    await page.getByRole("status").filter({ hasText: "In the best line" }).waitFor();
    const first = await line.locator("[aria-current]").textContent();
    await page.keyboard.press("ArrowRight");
    expect(await line.locator("[aria-current]").textContent()).not.toBe(first);
    await page.getByRole("button", { name: "Back to the game" }).click();
    await page.getByRole("link", { name: "Analyse this position" }).click();
    await page.getByRole("heading", { name: "Analysis" }).waitFor();
    expect(decodeURIComponent(page.url())).toMatch(/Ke7/);
    await page.goBack();
    await page.getByRole("grid", { name: "Position after 7… Ke7" }).waitFor();
  });

  test("a review is downloaded as the PGN that the API gives", async () => {
    const page = await openReview(5);
    await review(page, short);
    await isDone(page);
    const downloading = page.waitForEvent("download");
    await page.getByRole("button", { name: "Download the PGN" }).click();
    const download = await downloading;
    expect(download.suggestedFilename()).toBe("Paul-Morphy-Duke-Karl-1858.11.02.pgn");
    const { pgn } = (await reviewOf(short, 5)) as { readonly pgn: string };
    expect(pgn).toContain("[%eval");
    expect(await text(await download.createReadStream())).toBe(pgn);
  });

  test("a game that is pasted anywhere is reviewed, even if another view is open", async () => {
    const page = await openReview(4);
    await page.getByRole("link", { name: "Analysis" }).click();
    await page.getByRole("heading", { name: "Analysis" }).waitFor();
    await bring(page, "paste", mate);
    await isDone(page);
    await page.getByRole("heading", { name: "Nobody – Somebody" }).waitFor();
    await page
      .getByRole("main")
      .getByText(/2\. g4 \(blunder\)\.$/)
      .waitFor();
  });

  test("the review asks which game of a dropped file is meant", async () => {
    const page = await openReview(4);
    await bring(page, "drop", `${short}\n${mate}`);
    await page.getByText("2 games in this text").waitFor();
    await page.getByRole("button", { name: /Nobody – Somebody/ }).click();
    await isDone(page);
    await page.getByRole("heading", { name: "Nobody – Somebody" }).waitFor();
    await page.getByText("2 games in this text").click();
    await page.getByRole("button", { name: /Paul Morphy – Duke Karl/ }).click();
    await page.getByRole("heading", { name: "Paul Morphy 1–0 Duke Karl" }).waitFor();
    await isDone(page);
  });

  test("a file that is dropped on another view is read whole, and a text without a game is refused in words", async () => {
    const page = await openReview(4);
    await page.getByRole("link", { name: "Analysis" }).click();
    await page.getByRole("heading", { name: "Analysis" }).waitFor();
    await bring(page, "drop", `${short}\n{${" ".repeat(1_500_000)}}\n${mate}`);
    await page.getByText("2 games in this text").waitFor();
    await page.getByRole("link", { name: "Analysis" }).click();
    await bring(page, "drop", "kbz_0123456789abcdef");
    await page.getByRole("alert").filter({ hasText: "games.pgn contains no chess game." }).waitFor();
    await page.getByRole("heading", { name: "Analysis" }).waitFor();
  });

  test("the review says where a game cannot be read, and marks the place", async () => {
    const page = await openReview(4);
    const wrong = '[White "A"]\n\n1. e4 e5\n2. Ke3 Nf6 *';
    await review(page, wrong);
    await page.getByRole("main").getByText("Line 4, column 4:").waitFor();
    expect(await page.locator("mark").textContent()).toBe("Ke3");
    const field = page.getByLabel("A game in PGN");
    expect(await field.getAttribute("aria-invalid")).toBe("true");
    const selected = await page.evaluate(
      "document.activeElement.value.slice(document.activeElement.selectionStart, document.activeElement.selectionEnd)",
    );
    expect(selected).toBe("Ke3");
    await page.getByRole("button", { name: "Review the game up to there" }).click();
    await isDone(page);
    expect(await page.locator(".moves-table tbody tr").count()).toBe(1);
  });

  test("the review says where a long game has an illegal move", async () => {
    const page = await openReview(1);
    const comment = `{ ${"He thought for a long while. ".repeat(300)} }`;
    await review(page, `1. e4 ${comment} e5\n2. Ke3 Nf6 *`);
    await page.getByRole("main").getByText("Line 2, column 4:").waitFor();
    expect(await page.locator("mark").textContent()).toBe("Ke3");
  });

  test("a review stops, and goes on where it was", async () => {
    const page = await openReview(16);
    await review(page, short);
    await page
      .getByRole("main")
      .getByText(/^[1-9]\d* of 14 moves$/)
      .waitFor();
    await page.getByRole("button", { name: "Stop" }).click();
    await page
      .getByRole("main")
      .getByText(/^Stopped after \d+ of 14 moves\.$/)
      .waitFor();
    await page.getByRole("button", { name: "Go on" }).click();
    await page
      .getByRole("main")
      .getByText(/^[1-9]\d* of 14 moves$/)
      .waitFor();
    await page.getByRole("button", { name: "Stop" }).click();
  });

  test("a review goes on by itself when a lost connection has come back", async () => {
    await using relay = await startRelay(Number(new URL(kibitz.url).port));
    const page = await openReview(11, `http://127.0.0.1:${relay.port}/`);
    await review(page, short);
    await page
      .getByRole("main")
      .getByText(/^[1-9]\d* of 14 moves$/)
      .waitFor();
    relay.isRefusing = true;
    relay.reset();
    await page.getByRole("region", { name: "The service does not answer" }).waitFor();
    relay.isRefusing = false;
    await isDone(page);
    expect(await graphOf(page).getAttribute("aria-valuemax")).toBe("14");
  });

  test("a review shows the accuracy by colour and phase as the API says it, and each judgement on the board with the better move as an arrow", async () => {
    const page = await kibitz.open({ address: reviewScene.address });
    await reviewScene.reach(page);
    const pgn = await page.getByLabel("A game in PGN").inputValue();
    const answer = (await reviewOf(pgn, 8)) as Answer;
    const table = page.getByRole("table", { name: "How well they played" });
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
    expect(await cells("Accuracy")).toBe(accuracies(({ accuracy }) => accuracy));
    expect(await cells("in the opening \\(mean\\)")).toBe(
      accuracies(({ phases }) => phases.opening?.accuracy),
    );
    expect(await cells("in the middlegame \\(mean\\)")).toBe(
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
      await page.getByRole("button", { name: "To the next judged move" }).click();
      const sign = page.locator(".review-glyph-sign");
      const signs: Readonly<Record<string, string>> = { inaccuracy: "?!", mistake: "?", blunder: "??" };
      await expect.poll(() => sign.textContent()).toBe(signs[judgement ?? ""]);
      const [at, square] = await Promise.all([
        page.locator(".review-glyph-ground").boundingBox(),
        page.locator(`[data-square="${move.to}"]`).boundingBox(),
      ]);
      expect(Math.abs((at?.x ?? 0) - (square?.x ?? 0)), move.to).toBeLessThan(square?.width ?? 0);
      expect(Math.abs((at?.y ?? 0) - (square?.y ?? 0)), move.to).toBeLessThan(square?.height ?? 0);
      expect(await page.locator(".board-arrow-best").count()).toBe(1);
    }
  });
});
