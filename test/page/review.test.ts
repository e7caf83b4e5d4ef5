import { readFile } from "node:fs/promises";
import axe from "axe-core";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { describeWith } from "../support/needs.ts";
import { startCuttingProxy } from "./support/cutting-proxy.ts";
import { usePage } from "./support/open-page.ts";

const short = `[Event "Paris Opera"]
[Date "1858.11.02"]
[White "Paul Morphy"]
[Black "Duke Karl"]
[Result "1-0"]

1. e4 { [%clk 0:05:00] } e5 { [%clk 0:04:58] } 2. Nf3 d6 3. d4 Bg4 4. dxe5 Bxf3 5. Qxf3 dxe5 6. Bc4 Nf6 7. Qb3 Ke7 1-0
`;
const mate = '[White "Nobody"]\n[Black "Somebody"]\n\n1. f3 e5 2. g4 Qh4# 0-1\n';

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

  test("fills ply by ply, and is stepped through by keys, by the graph and by the list of moves", async () => {
    const page = await openReview(12);
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

  test("plays the best line on the board, and leads to the analysis of what is shown", async () => {
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

  test("is taken along as the API gives it", async () => {
    const page = await openReview(5);
    await review(page, short);
    await isDone(page);
    const downloading = page.waitForEvent("download");
    await page.getByRole("button", { name: "Download the PGN" }).click();
    const download = await downloading;
    expect(download.suggestedFilename()).toBe("Paul-Morphy-Duke-Karl-1858.11.02.pgn");
    const answer = await fetch(`${kibitz.url}/v1/review`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ pgn: short, depth: 5 }),
    });
    const { pgn } = (await answer.json()) as { readonly pgn: string };
    expect(pgn).toContain("[%eval");
    expect(await readFile(await download.path(), "utf8")).toBe(pgn);
  });

  test("takes what is pasted anywhere on the page, also where another view is open", async () => {
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

  test("asks which game of a dropped file is meant", async () => {
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

  test("reads the whole of a file that is dropped on another view, and refuses in words what it cannot read", async () => {
    const page = await openReview(4);
    await page.getByRole("link", { name: "Analysis" }).click();
    await page.getByRole("heading", { name: "Analysis" }).waitFor();
    await bring(page, "drop", `${short}\n{${" ".repeat(1_500_000)}}\n${mate}`);
    await page.getByText("2 games in this text").waitFor();
    await page.getByRole("link", { name: "Analysis" }).click();
    await bring(page, "drop", "kbz_0123456789abcdef");
    await page.getByText("There is no game in it.").and(page.locator(".game-refusal")).waitFor();
  });

  test("says where a game cannot be read, and marks the place", async () => {
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

  test("says where also of a long game with an illegal move", async () => {
    const page = await openReview(1);
    const comment = `{ ${"He thought for a long while. ".repeat(300)} }`;
    await review(page, `1. e4 ${comment} e5\n2. Ke3 Nf6 *`);
    await page.getByRole("main").getByText("Line 2, column 4:").waitFor();
    expect(await page.locator("mark").textContent()).toBe("Ke3");
  });

  test("stops, and goes on where it was", async () => {
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

  test("goes on by itself when a lost connection has come back", async () => {
    const proxy = await startCuttingProxy(kibitz.url);
    const page = await openReview(13, proxy.base);
    await review(page, short);
    await page
      .getByRole("main")
      .getByText(/^[1-9]\d* of 14 moves$/)
      .waitFor();
    proxy.letIn(false);
    proxy.cut();
    await page.getByText("The connection is lost. Trying again…").first().waitFor();
    proxy.letIn(true);
    await isDone(page);
    expect(await graphOf(page).getAttribute("aria-valuemax")).toBe("14");
  });

  test.each([
    ["light", 1280],
    ["dark", 320],
  ] as const)("has nothing that axe finds, %s and %i px wide", async (colours, width) => {
    const page = await kibitz.open({ address: "#review", colours, size: { width, height: 800 } });
    await page.getByLabel("Depth").fill("4");
    await review(page, short);
    await isDone(page);
    await page.keyboard.press("End");
    await page.evaluate(axe.source);
    const { violations } = await page.evaluate<{
      violations: readonly { id: string; nodes: readonly unknown[] }[];
    }>("axe.run(document.querySelector('main'))");
    expect(violations.map(({ id, nodes }) => [id, nodes.length])).toEqual([]);
    const overflow = await page.evaluate<number>("document.documentElement.scrollWidth - innerWidth");
    expect(overflow).toBeLessThanOrEqual(0);
  });
});
