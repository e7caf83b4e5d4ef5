import type { Page } from "playwright-core";

/** What the page can show, each as a user comes to it: for pictures, and for what must hold whatever is shown. */
export interface Scene {
  readonly name: string;
  /** Behind the address of the page. */
  readonly address: string;
  /** From the opened page to where all is there. */
  reach(page: Page): Promise<void>;
}

/** Morphy, Paris 1858. */
const pgn = `[Event "A night at the opera"]
[Site "Paris"]
[Date "1858.11.02"]
[White "Paul Morphy"]
[Black "Duke Karl and Count Isouard"]
[Result "1-0"]

1. e4 e5 2. Nf3 d6 3. d4 Bg4 4. dxe5 Bxf3 5. Qxf3 dxe5 6. Bc4 Nf6 7. Qb3 Qe7 8. Nc3 c6 9. Bg5 b5 10. Nxb5 cxb5
11. Bxb5+ Nbd7 12. O-O-O Rd8 13. Rxd7 Rxd7 14. Rd1 Qe6 15. Bxd7+ Nxd7 16. Qb8+ Nxb8 17. Rd8# 1-0
`;

/** Before the tenth move of that game. */
const opera = "#moves=e4_e5_Nf3_d6_d4_Bg4_dxe5_Bxf3_Qxf3_dxe5_Bc4_Nf6_Qb3_Qe7_Nc3_c6_Bg5_b5";

export const analysisScene: Scene = {
  name: "analysis",
  address: `${opera}&depth=10&multipv=3`,
  async reach(page) {
    await page.getByText(/^Depth 10$/).waitFor();
    await page.getByRole("toolbar", { name: /^Line 3/ }).waitFor();
    await isStill(page);
  },
};

export const reviewScene: Scene = {
  name: "review",
  address: "#review",
  async reach(page) {
    await page.getByLabel("Depth").fill("8");
    await page.getByLabel("A game in PGN").fill(pgn);
    await page.getByRole("button", { name: "Review the game" }).click();
    await page.getByRole("button", { name: "Download PGN" }).waitFor();
    const graph = page.getByRole("slider", { name: "White’s chances" });
    await graph.press("End");
    for (let ply = 0; ply < 15; ply++) {
      await graph.press("ArrowLeft");
    }
    await isStill(page);
  },
};

/** A service that lets nobody ask for so many lines: any but an open one. */
export const problemScene: Scene = {
  name: "problem",
  address: `${opera}&multipv=10`,
  async reach(page) {
    await page.getByRole("region", { name: "More than 5 lines needs a free key" }).waitFor();
    await isStill(page);
  },
};

const setUpScene: Scene = {
  name: "editor",
  address: opera,
  async reach(page) {
    await page.getByRole("button", { name: "Set up" }).click();
    await page.getByRole("grid", { name: "Board, being set up" }).waitFor();
  },
};

const refusedFenScene: Scene = {
  name: "refused FEN",
  address: "#depth=2",
  async reach(page) {
    const fen = page.getByRole("textbox", { name: "FEN" });
    await fen.fill("8/8/8/8/8/8/8/9 w");
    await fen.press("Enter");
    await page.getByText("This FEN cannot be read", { exact: true }).waitFor();
  },
};

export const scenes: readonly Scene[] = [
  analysisScene,
  reviewScene,
  problemScene,
  setUpScene,
  refusedFenScene,
];

/** Nothing moves any more. */
async function isStill(page: Page): Promise<void> {
  await page.evaluate("Promise.all(document.getAnimations().map(({ finished }) => finished))");
}
