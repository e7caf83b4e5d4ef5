import type { Locator, Page } from "playwright-core";

type MouseButton = "left" | "right";

/** The analysis as its user finds it: by what things are called. */
export function analysisOf(page: Page) {
  const board = page.getByRole("grid", { name: "Board" });
  return {
    board,
    /** A square of the board by its name, whatever stands on it. */
    square: (name: string): Locator => board.locator(`[data-square="${name}"]`),
    fen: page.getByRole("textbox", { name: "FEN" }),
    move: page.getByRole("textbox", { name: "Move" }),
    moves: page.getByRole("list", { name: "Moves" }).getByRole("button"),
    lines: page.getByRole("list", { name: "Lines" }).getByRole("toolbar"),
    score: page.getByRole("meter", { name: "Evaluation" }),
    start: page.getByRole("button", { name: "Analyse", exact: true }),
    stop: page.getByRole("button", { name: "Stop" }),
    /** Switches the engine on and off. */
    engine: page.getByRole("switch", { name: "Analyse automatically" }),
    /** How the search is getting on. */
    state: page.locator(".search-state"),
    /** The announcements for screen readers. */
    heard: page.getByRole("status"),
  };
}

/** The middle of a square on the screen. */
async function middleOf(square: Locator): Promise<readonly [x: number, y: number]> {
  const box = await square.boundingBox();
  if (box === null) {
    throw new Error("the square is not shown");
  }
  return [box.x + box.width / 2, box.y + box.height / 2];
}

/** True if the whole element can be seen without scrolling. */
export async function isInWindow(element: Locator): Promise<boolean> {
  const box = await element.boundingBox();
  const { width = 0, height = 0 } = element.page().viewportSize() ?? {};
  return (
    box !== null && box.x >= 0 && box.y >= 0 && box.x + box.width <= width && box.y + box.height <= height
  );
}

/** Drags with the mouse, as a hand does: in steps. */
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
    // Chessground looks at the pointer once a frame.
    await page.evaluate("new Promise(requestAnimationFrame)");
  }
  await page.mouse.up({ button });
}

/** Clicks what lies there, through the grid that is for keys. */
export async function clickAt(page: Page, square: Locator, button: MouseButton = "left"): Promise<void> {
  await drag(page, square, square, button);
}

/** Waits until the page has sent the search that it sends for a new position, if it does: its own timer of 600 ms began earlier. */
export async function settle(page: Page): Promise<void> {
  await page.evaluate("new Promise((resolve) => setTimeout(resolve, 700))");
}

/** The bodies of the searches that a page sends from now on. */
export function searchesOf(page: Page): readonly string[] {
  const searches: string[] = [];
  page.on("request", (request) => {
    if (request.url().endsWith("/StreamEvaluate")) {
      searches.push(request.postData() ?? "");
    }
  });
  return searches;
}

/** Returns true if an element has the focus. Without it, keys and screen readers begin at the top again. */
export function hasFocus(page: Page): Promise<boolean> {
  return page.evaluate<boolean>("document.activeElement !== document.body");
}

/** The options of a page that texts are pasted into. */
export const withClipboard = { context: { permissions: ["clipboard-read", "clipboard-write"] } };

/** Pastes by key, into whatever has the focus. */
export async function paste(page: Page, text: string): Promise<void> {
  // A text, since what runs in the page has types that tests do not know.
  await page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(text)})`);
  await page.keyboard.press("Control+V");
}
