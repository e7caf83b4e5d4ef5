import type { Locator, Page } from "playwright-core";
import { expect, test, vi } from "vitest";
import { describeWith } from "../support/needs.ts";
import { patienceMs } from "../support/patience.ts";
import { analysisOf, clickAt, isInWindow, openShare, withClipboard } from "./support/analysis-page.ts";
import { usePage } from "./support/open-page.ts";

const telephone = { width: 320, height: 640 };

describeWith("chromium")("the layout of the page", () => {
  const kibitz = usePage();
  const promoting = "#fen=8/P6k/8/8/8/8/p6K/8_w_-_-_0_1&depth=2";

  test.each([telephone, { width: 1280, height: 800 }])(
    "the name of the page, the board and the Analyse button are visible without scrolling in a window of $width px",
    async (size) => {
      const page = await kibitz.open({ size });
      const first = [
        page.getByText("Chess analysis by Stockfish"),
        page.getByRole("grid", { name: "Board" }),
        page.getByText("Press Analyse, or play a move"),
        page.getByRole("button", { name: "Analyse", exact: true }),
      ];
      for (const part of first) {
        const { y, height } = await boxOf(part);
        expect(y + height, String(part)).toBeLessThanOrEqual(size.height);
      }
    },
  );

  // `least` is the minimum size of the board relative to the shorter side of the window.
  test.each([
    { width: 1280, height: 800, least: 0.88 },
    { width: 1920, height: 1080, least: 0.9 },
    { width: 820, height: 1180, least: 0.9 },
    { width: 360, height: 740, least: 0.88 },
    { width: 740, height: 360, least: 0.75 },
  ])(
    "the board fills a window of $width by $height px, and has the same size in the analysis and the review",
    async ({ width, height, least }) => {
      const page = await kibitz.open({ address: "#moves=e4&depth=2", size: { width, height } });
      const board = page.locator(".board");
      const analysis = await boxOf(board);
      expect(analysis.height / Math.min(width, height)).toBeGreaterThan(least);
      expect(analysis.y + analysis.height).toBeLessThanOrEqual(height);
      await page.getByRole("link", { name: "Game review" }).click();
      await page.getByRole("button", { name: "Review this game" }).waitFor();
      const { width: reviewWidth, height: reviewHeight } = await boxOf(board);
      expect([reviewWidth, reviewHeight]).toEqual([analysis.width, analysis.height]);
    },
  );

  test.each([
    { width: 360, height: 640 },
    { width: 360, height: 740 },
    { width: 820, height: 1180 },
    { width: 1280, height: 720 },
    { width: 1280, height: 820 },
    { width: 1920, height: 1080 },
  ])(
    "the current move, its evaluation and the settings are in a window of $width by $height px, in both views",
    async (size) => {
      const isTelephone = size.width < 400;
      const expectInWindow = async (page: Page, parts: readonly Locator[]) => {
        for (const part of parts) {
          await part.waitFor();
          expect(await isInWindow(part), String(part)).toBe(true);
        }
        expect(await page.evaluate("scrollY")).toBe(0);
      };
      const expectSettings = async (page: Page, names: readonly string[]) => {
        const button = page.getByRole("button", { name: "Settings" });
        await expectInWindow(page, [button]);
        expect(await button.getAttribute("aria-expanded")).toBe(String(!isTelephone));
        if (isTelephone) {
          await button.click();
        }
        await expectInWindow(
          page,
          names.map((name) => page.getByRole("form").getByLabel(name, { exact: true })),
        );
      };
      /** The list is shorter when the analysis has lines. */
      const expectCurrentMove = async (page: Page) => {
        const list = page.getByRole("list", { name: "Moves" });
        const current = list.locator("[aria-current]");
        await expectInWindow(page, [current]);
        const [{ y, height }, around] = [await boxOf(current), await boxOf(list)];
        expect(y).toBeGreaterThan(around.y - 1);
        expect(y + height).toBeLessThan(around.y + around.height + 1);
      };

      const moves = "e4_e5_Nf3_Nc6_Bb5_a6_Ba4_Nf6_O-O_Be7_Re1_b5_Bb3_d6_c3_O-O_h3_Nb8_d4_Nbd7";
      const page = await kibitz.open({ address: `#moves=${moves}&depth=2&multipv=5`, size });
      await page.getByText("Depth 2", { exact: true }).waitFor();
      const panel = page.getByRole("region", { name: "Evaluation" });
      await expectInWindow(page, [panel.getByText("10… Nbd7"), panel.getByText(/^[+−]\d+\.\d\d$/).first()]);
      if (!isTelephone) {
        await expectCurrentMove(page);
      }
      await expectSettings(page, ["Depth", "Lines", "Engine"]);

      const review = await kibitz.open({ address: "#review", size });
      await review.getByLabel("Depth").fill("2");
      await review.getByLabel("A game in PGN").fill("1. e4 e5 2. Nf3 d6 3. Bc4 Nc6 4. Bxf7+ Kxf7 *");
      await review.getByRole("button", { name: "Review the game" }).click();
      await review.getByRole("table", { name: "Accuracy and mistakes" }).waitFor();
      await review.keyboard.press("End");
      await review.keyboard.press("ArrowLeft");
      const comment = review.getByRole("region", { name: "Comment on the move" });
      await expectInWindow(review, [comment.getByText(/^4\. Bxf7\+/), comment.getByText(/^[+−]\d+\.\d\d$/)]);
      if (!isTelephone) {
        await expectCurrentMove(review);
      }
      await expectSettings(review, ["Depth", "Engine", "Alternatives"]);
    },
  );

  test("the tools are in one row beside the board", async () => {
    const page = await kibitz.open({ address: "#moves=e4&depth=2" });
    const tops = ["First position", "New analysis", "Set up", "Share", "Settings"].map(
      async (name) => (await boxOf(page.getByRole("button", { name }))).y,
    );
    expect(new Set(await Promise.all(tops))).toEqual(new Set([await tops[0]]));
  });

  test.each(["light", "dark"] as const)(
    "the evaluation bar has a number at the end of the better side and a visible middle, in %s colours",
    async (colours) => {
      const page = await kibitz.open({ address: "#moves=e4&depth=3", colours });
      await page.getByText("Depth 3", { exact: true }).waitFor();
      const bar = page.getByRole("meter", { name: "Evaluation" });
      const number = page.locator(".evaluation-bar-number");
      const score = Number((await bar.getAttribute("aria-valuetext"))?.replace("−", "-"));
      expect(await number.textContent()).toBe(Math.abs(score).toFixed(1));
      const whole = await boxOf(bar);
      const { top, middle, shares } = await page.evaluate<MeasuredBar>(barInPage);
      expect(Math.abs(top - (whole.height - 2) / 2)).toBeLessThan(2);
      for (const share of shares) {
        expect(contrast(middle, share), share).toBeGreaterThan(3);
      }
      // Black has mated, so the number is at the end of Black, above.
      await page.goto(`${kibitz.url}/#moves=f3_e5_g4_Qh4`);
      await expect.poll(() => number.textContent()).toBe("0–1");
      expect((await boxOf(number)).y - whole.y).toBeLessThan(3);
      await page.getByRole("button", { name: "Flip board" }).click();
      await expect.poll(async () => (await boxOf(number)).y - whole.y).toBeGreaterThan(whole.height / 2);
    },
  );

  test.each([telephone, { width: 1280, height: 720 }])(
    "the arrows of the engine have enough contrast and width in a window of $width px, on both boards",
    async (size) => {
      const page = await kibitz.open({ address: "#moves=e4_e5&depth=3&multipv=2", size });
      await page.locator(".cg-shapes line").nth(1).waitFor();
      for (const board of ["brown", "blue"]) {
        await page.evaluate(`document.documentElement.dataset.board = "${board}"`);
        const { arrows, squares } = await page.evaluate<MeasuredArrows>(arrowsInPage);
        expect(arrows).toHaveLength(2);
        for (const { colour, opacity, width } of arrows) {
          expect(width, colour).toBeGreaterThan(3.5);
          for (const square of squares) {
            const seen = blended(colour, opacity, square);
            expect(contrast(seen, square), `${colour} on ${square}`).toBeGreaterThan(3);
          }
        }
      }
    },
  );

  test("the page draws no outline around its content after a click beside the board and a key press", async () => {
    const page = await kibitz.open({ address: "#moves=e4&depth=2" });
    await page.mouse.click(2, 400);
    await page.keyboard.press("ArrowLeft");
    expect(await page.evaluate("document.activeElement.localName")).toBe("main");
    expect(await page.evaluate("getComputedStyle(document.activeElement).outlineStyle")).toBe("none");
  });

  test("the coordinates of the board have enough contrast on light and dark squares, also on a flipped board", async () => {
    const page = await kibitz.open({ address: "#moves=e4&depth=2" });
    for (const side of ["white", "black"]) {
      await page.locator(`.orientation-${side} coords.files coord`).first().waitFor();
      const colours = await page.evaluate<string[]>(
        "[...document.querySelectorAll('coords coord')].map((coord) => getComputedStyle(coord).color)",
      );
      expect(colours).toHaveLength(16);
      for (const colour of colours) {
        for (const square of ["rgb(240, 217, 181)", "rgb(181, 136, 99)"]) {
          expect(contrast(colour, square), `${colour} on ${square}, seen by ${side}`).toBeGreaterThan(4.5);
        }
      }
      await page.getByRole("button", { name: "Flip board" }).click();
    }
  });

  test.each([telephone, { width: 1280, height: 800 }])(
    "the promotion dialog shows the queen over the target square in a window of $width px",
    async (size) => {
      const page = await kibitz.open({ address: promoting, size });
      const { square, moves } = analysisOf(page);
      const queen = page.getByRole("button", { name: "queen", exact: true });
      await page.locator("cg-board piece").first().waitFor();
      await clickAt(page, square("a7"));
      await clickAt(page, square("a8"));
      expect(coversCentreOf(await boxOf(queen), await boxOf(square("a8")))).toBe(true);
      await queen.click();
      await moves.filter({ hasText: "a8=Q" }).waitFor();
      await page.keyboard.press("Escape");
      await analysisOf(page).move.fill("Kg7");
      await analysisOf(page).move.press("Enter");
      await moves.filter({ hasText: "Kg7" }).waitFor();
      await analysisOf(page).move.fill("Kg2");
      await analysisOf(page).move.press("Enter");
      await moves.filter({ hasText: "Kg2" }).waitFor();
      await square("a2").scrollIntoViewIfNeeded();
      await clickAt(page, square("a2"));
      await clickAt(page, square("a1"));
      expect(coversCentreOf(await boxOf(queen), await boxOf(square("a1")))).toBe(true);
      expect((await boxOf(page.getByRole("dialog"))).y).toBeLessThan((await boxOf(square("a1"))).y);
    },
  );

  test("the layout does not move while a search becomes deeper, at 320 px and at 1280 px", async () => {
    for (const size of [telephone, { width: 1280, height: 800 }]) {
      const page = await kibitz.open({ address: "#moves=e4_e5&depth=13&multipv=2", size });
      const { lines } = analysisOf(page);
      const parts = [".search-figures", ".move-list", ".typed-fields"];
      await Promise.all(parts.map((part) => page.locator(part).waitFor()));
      // In one step, because the page replaces elements while the search becomes deeper.
      const places = () =>
        page.evaluate<number[]>(
          `${JSON.stringify(parts)}.map((part) => Math.round(document.querySelector(part).getBoundingClientRect().y))`,
        );
      // Measure before the first line appears, because the observer below starts with the second line.
      const before = await places();
      await lines.nth(1).waitFor();
      await page.evaluate(watchShifts);
      await page.getByText("Depth 13", { exact: true }).waitFor();
      expect(await page.evaluate("window.shifted"), `${size.width} px`).toEqual([]);
      expect(await places(), `${size.width} px`).toEqual(before);
    }
  });

  test("a copy button keeps its size, and shows 'Copied' for the same time after each click", async () => {
    const page = await kibitz.open({ address: "#moves=e4&depth=2", ownTab: true, ...withClipboard });
    await openShare(page);
    const [link, fen] = ["Copy link", "Copy FEN"].map((name) => page.getByRole("button", { name }));
    if (!link || !fen) {
      throw new Error("there are two");
    }
    const before = [await boxOf(link), await boxOf(fen)];
    await link.click();
    await link.filter({ hasText: "Copied" }).waitFor();
    expect([await boxOf(link), await boxOf(fen)]).toEqual(before);
    await page.clock.install();
    await fen.click();
    await fen.filter({ hasText: "Copied" }).waitFor();
    await page.clock.runFor(1500);
    await fen.click();
    await page.clock.runFor(1500);
    expect(await fen.textContent()).toBe("Copied");
    await page.clock.runFor(1500);
    expect(await fen.textContent()).toBe("Copy FEN");
  });

  test("the illegal move of a game is visible in a window of 320 px", async () => {
    const page = await kibitz.open({ address: "#review", size: telephone });
    await page.getByLabel("A game in PGN").fill("1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Bxc9 dxc6");
    await page.getByRole("button", { name: "Review the game" }).click();
    const mark = page.locator("mark", { hasText: "Bxc9" });
    await mark.waitFor();
    const [{ x, width }, line] = [await boxOf(mark), await boxOf(page.locator("p", { has: mark }))];
    expect(x + width).toBeLessThanOrEqual(line.x + line.width);
  });
});

async function boxOf(part: Locator) {
  await part.waitFor();
  // There is no box if the page replaces the element at this moment.
  return vi.waitFor(
    async () => (await part.boundingBox()) ?? expect.fail(`${part} is not shown`),
    patienceMs,
  );
}

type Box = Awaited<ReturnType<typeof boxOf>>;

function coversCentreOf(above: Box, { x, y, width, height }: Box): boolean {
  const [right, down] = [x + width / 2 - above.x, y + height / 2 - above.y];
  return right > 0 && right < above.width && down > 0 && down < above.height;
}

interface MeasuredBar {
  readonly top: number;
  /** The colours of the middle, and of both sides. */
  readonly middle: string;
  readonly shares: readonly string[];
}

const barInPage = `(() => {
  const bar = document.querySelector(".evaluation-bar");
  const { top, borderTopColor } = getComputedStyle(bar, "::after");
  const shares = [bar, bar.firstElementChild].map((part) => getComputedStyle(part).backgroundColor);
  return { top: parseFloat(top), middle: borderTopColor, shares };
})()`;

interface MeasuredArrows {
  readonly arrows: readonly { readonly colour: string; readonly opacity: number; readonly width: number }[];
  readonly squares: readonly string[];
}

/** Measures the arrows in pixels, and reads the colours of the squares. */
const arrowsInPage = `(() => {
  const rgb = (hex) => "rgb(" + hex.match(/\\w\\w/g).map((part) => parseInt(part, 16)).join(", ") + ")";
  const style = getComputedStyle(document.documentElement);
  const arrows = [...document.querySelectorAll(".cg-shapes line")].map((line) => ({
    colour: rgb(line.getAttribute("stroke")),
    opacity: Number(line.getAttribute("opacity")) * Number(getComputedStyle(line.closest("svg")).opacity),
    width: Number(line.getAttribute("stroke-width")) * line.getScreenCTM().a,
  }));
  return { arrows, squares: ["--dark-square", "--light-square"].map((name) => rgb(style.getPropertyValue(name))) };
})()`;

const partsOf = (colour: string) => (colour.match(/[\d.]+/g) ?? []).map(Number);

function blended(colour: string, opacity: number, ground: string): string {
  const grounds = partsOf(ground);
  const parts = partsOf(colour).map((part, index) => opacity * part + (1 - opacity) * (grounds[index] ?? 0));
  return `rgb(${parts.join(", ")})`;
}

/** Records elements that move without user input. */
const watchShifts = `
  window.shifted = [];
  new PerformanceObserver((list) => {
    for (const { sources, hadRecentInput } of list.getEntries()) {
      // The moves of a line and the bar of chances may change.
      const moved = sources.filter(({ node }) => node?.closest && !node.closest(".line-moves, .chances-bar"));
      if (!hadRecentInput && moved.length > 0) { shifted.push(moved.map(({ node }) => node.outerHTML.slice(0, 60)).join()); }
    }
  }).observe({ type: "layout-shift" });
`;

/**
 * Returns the contrast ratio of WCAG 2, from 1 to 21.
 *
 * @param one a computed colour such as `rgb(1, 2, 3)`
 */
function contrast(one: string, other: string): number {
  const [light = 0, dark = 0] = [one, other].map(luminance).toSorted((a, b) => b - a);
  return (light + 0.05) / (dark + 0.05);
}

function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = partsOf(colour).map((part) => {
    const share = part / 255;
    return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
