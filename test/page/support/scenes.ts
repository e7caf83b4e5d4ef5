import type { Page } from "playwright-core";
import { analysisOf, openFile, openShare } from "./analysis-page.ts";

export interface Scene {
  readonly name: string;
  readonly address: string;
  /** True if the service must have a limit of one request per minute. */
  readonly isLimited?: boolean;
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

/** The first nine moves of Morphy's opera game. */
const opera = "#moves=e4_e5_Nf3_d6_d4_Bg4_dxe5_Bxf3_Qxf3_dxe5_Bc4_Nf6_Qb3_Qe7_Nc3_c6_Bg5_b5";

const startScene: Scene = {
  name: "start",
  address: "",
  reach: (page) => page.locator("cg-board piece").first().waitFor(),
};

export const analysisScene: Scene = {
  name: "analysis",
  address: `${opera}&depth=10&multipv=3`,
  async reach(page) {
    await page.getByText(/^Depth 10$/).waitFor();
    await page.getByRole("toolbar", { name: /^Line 3/ }).waitFor();
    await animationsEnd(page);
  },
};

const variationsScene: Scene = {
  name: "variations",
  address: `${opera}&depth=6`,
  async reach(page) {
    const { move, moves } = analysisOf(page);
    await moves.filter({ hasText: "b5" }).first().waitFor();
    for (const text of ["h6 Bh4", "Na6"]) {
      await page.getByRole("button", { name: "Bg5", exact: true }).click();
      await move.fill(text);
      await move.press("Enter");
      await moves
        .filter({ hasText: text.slice(0, 2) })
        .first()
        .waitFor();
    }
    await page.getByText(/^Depth 6$/).waitFor();
    await animationsEnd(page);
  },
};

const editorScene: Scene = {
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
    const { fen } = analysisOf(page);
    await fen.fill("8/8/8/8/8/8/8/9 w");
    await fen.press("Enter");
    await page.getByText("This FEN cannot be read", { exact: true }).waitFor();
  },
};

const rateLimitedScene: Scene = {
  name: "rate limit",
  address: `${opera}&depth=8`,
  isLimited: true,
  async reach(page) {
    const { move, square } = analysisOf(page);
    // An earlier test may have used the only request of this minute.
    await page
      .getByText(/^Depth 8$/)
      .or(page.getByRole("timer"))
      .waitFor();
    await move.fill("Nxb5");
    await move.press("Enter");
    await square("b5").and(page.getByLabel("White knight")).waitFor();
    await page.getByRole("timer").waitFor();
    await animationsEnd(page);
  },
};

/** Requests 10 lines without an API key. The plan for callers without a key allows fewer lines. */
const problemScene: Scene = {
  name: "problem without a key",
  address: `${opera}&multipv=10`,
  async reach(page) {
    await page.getByRole("region", { name: /key|Upgrade needed/ }).waitFor();
    await animationsEnd(page);
  },
};

const apiScene: Scene = {
  name: "API call",
  address: `${opera}&depth=6`,
  async reach(page) {
    await page.getByText(/^Depth 6$/).waitFor();
    await page.getByRole("heading", { name: "API call" }).click();
    await page.getByRole("radio", { name: "curl", exact: true }).waitFor({ state: "attached" });
    await animationsEnd(page);
  },
};

const runningReviewScene: Scene = {
  name: "running review",
  address: "#review",
  async reach(page) {
    await beginReview(page, 16);
    await page.getByText(/^[1-9]\d* of 33 positions$/).waitFor();
  },
};

export const reviewScene: Scene = {
  name: "review",
  address: "#review",
  async reach(page) {
    await beginReview(page, 8);
    await page.getByRole("table", { name: "Accuracy and mistakes" }).waitFor();
    await page.getByRole("button", { name: "Next mistake" }).click();
    await page.getByRole("button", { name: "Next mistake" }).click();
    await animationsEnd(page);
  },
};

const shareScene: Scene = {
  name: "share",
  address: `${opera}&depth=6`,
  async reach(page) {
    await page.getByText(/^Depth 6$/).waitFor();
    await openShare(page);
    await page.getByRole("link", { name: "Download PGN" }).waitFor();
    await animationsEnd(page);
  },
};

/** A file with several games, in an encoding that the page has to guess. */
const gamesScene: Scene = {
  name: "games",
  address: "#depth=4",
  async reach(page) {
    await page.getByRole("button", { name: "Open a game or a position" }).click();
    const games = Array.from(
      { length: 60 },
      (_, index) => `[White "Müller"]\n[Round "${index}"]\n\n1. e4 e5 *\n`,
    );
    await openFile(page, Buffer.from(games.join("\n"), "latin1"));
    await page
      .getByRole("button", { name: /^Game 1/ })
      .first()
      .click();
    await page.getByRole("combobox", { name: /encoding/ }).waitFor();
    await page.getByText("60 games in this text").click();
    await page.getByRole("button", { name: /^Show more/ }).waitFor();
    await animationsEnd(page);
  },
};

async function beginReview(page: Page, depth: number): Promise<void> {
  await page.getByLabel("Depth").fill(String(depth));
  await page.getByLabel("A game in PGN").fill(pgn);
  await page.getByRole("button", { name: "Review the game" }).click();
}

export const scenes: readonly Scene[] = [
  startScene,
  analysisScene,
  variationsScene,
  editorScene,
  refusedFenScene,
  rateLimitedScene,
  problemScene,
  apiScene,
  runningReviewScene,
  reviewScene,
  shareScene,
  gamesScene,
];

async function animationsEnd(page: Page): Promise<void> {
  await page.evaluate("Promise.all(document.getAnimations().map(({ finished }) => finished))");
}
