import { text } from "node:stream/consumers";
import type { Locator, Page } from "playwright-core";

type MouseButton = "left" | "right";

export function analysisOf(page: Page) {
  const board = page.getByRole("grid", { name: "Board" });
  return {
    board,
    square: (name: string): Locator => board.locator(`[data-square="${name}"]`),
    fen: page.getByRole("textbox", { name: "FEN" }),
    move: page.getByRole("textbox", { name: "Move" }),
    moves: page.getByRole("list", { name: "Moves" }).getByRole("button"),
    lines: page.getByRole("list", { name: "Lines" }).getByRole("toolbar"),
    score: page.getByRole("meter", { name: "Evaluation" }),
    start: page.getByRole("button", { name: "Analyse", exact: true }),
    stop: page.getByRole("button", { name: "Stop" }),
    engine: page.getByRole("switch", { name: "Analyse automatically" }),
    state: page.locator(".search-state"),
    heard: page.getByRole("status"),
  };
}

async function middleOf(square: Locator): Promise<readonly [x: number, y: number]> {
  const box = await square.boundingBox();
  if (box === null) {
    throw new Error("the square is not shown");
  }
  return [box.x + box.width / 2, box.y + box.height / 2];
}

export async function isInWindow(element: Locator): Promise<boolean> {
  const box = await element.boundingBox();
  const { width = 0, height = 0 } = element.page().viewportSize() ?? {};
  return (
    box !== null && box.x >= 0 && box.y >= 0 && box.x + box.width <= width && box.y + box.height <= height
  );
}

/** Drags the pointer in several steps, because a person also moves the mouse gradually. */
export async function drag(
  page: Page,
  from: Locator,
  to: Locator,
  button: MouseButton = "left",
): Promise<void> {
  await page.mouse.move(...(await middleOf(from)));
  await page.mouse.down({ button });
  await page.mouse.move(...(await middleOf(to)), { steps: 4 });
  if (button === "right") {
    // Chessground reads the pointer position once per frame.
    await page.evaluate("new Promise(requestAnimationFrame)");
  }
  await page.mouse.up({ button });
}

/** Uses the mouse, because `Locator.click` fails if an element has `pointer-events: none`, as squares do. */
export async function clickAt(page: Page, square: Locator, button: MouseButton = "left"): Promise<void> {
  await drag(page, square, square, button);
}

/** Waits for 700 ms. The page starts the search of a new position after 600 ms. */
export async function settle(page: Page): Promise<void> {
  await page.evaluate("new Promise((resolve) => setTimeout(resolve, 700))");
}

/** Returns an array to which the body of each later search request is appended. */
export function searchesOf(page: Page): readonly string[] {
  const searches: string[] = [];
  page.on("request", (request) => {
    if (request.url().endsWith("/StreamEvaluate")) {
      searches.push(request.postData() ?? "");
    }
  });
  return searches;
}

/** Returns true if an element has the focus. Without a focus, a keyboard user would have to start at the top of the page. */
export function hasFocus(page: Page): Promise<boolean> {
  return page.evaluate<boolean>("document.activeElement !== document.body");
}

/** Opens a file with the button "Open a file". */
export async function openFile(page: Page, buffer: Buffer, name = "games.pgn"): Promise<void> {
  await page.getByLabel("Open a file").setInputFiles({ name, mimeType: "application/x-chess-pgn", buffer });
}

/** Opens the menu with the copy buttons and the download. */
export async function openShare(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Share" }).click();
}

export async function copied(page: Page, label: string): Promise<string> {
  await openShare(page);
  const button = page.getByRole("button", { name: label });
  await button.click();
  await button.filter({ hasText: "Copied" }).waitFor();
  await page.keyboard.press("Escape");
  return await page.evaluate<string>("navigator.clipboard.readText()");
}

export async function downloadedPgn(page: Page): Promise<string> {
  await openShare(page);
  const downloading = page.waitForEvent("download");
  await page.getByRole("link", { name: "Download PGN" }).click();
  const pgn = await text(await (await downloading).createReadStream());
  await page.keyboard.press("Escape");
  return pgn;
}

export const withClipboard = { context: { permissions: ["clipboard-read", "clipboard-write"] } };

export async function paste(page: Page, text: string): Promise<void> {
  // The code is a string, because the types of the browser are unknown in tests.
  await page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(text)})`);
  await page.keyboard.press("Control+V");
}
