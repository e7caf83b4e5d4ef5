import axe from "axe-core";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { describeWith } from "../support/needs.ts";
import { analysisOf } from "./support/analysis-page.ts";
import { usePage } from "./support/open-page.ts";

/** What axe finds in the analysis, briefly. */
async function faultsOf(page: Page): Promise<readonly string[]> {
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate<{
    readonly violations: readonly {
      readonly id: string;
      readonly nodes: readonly { readonly html: string }[];
    }[];
  }>("axe.run(document.querySelector('main'))");
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 160)}`));
}

describeWith("chromium")("the analysis for everybody", () => {
  const kibitz = usePage();

  test.each([
    ["light", 1280],
    ["dark", 320],
  ] as const)(
    "has nothing that axe finds, and nothing beyond the edge, %s and %i px wide",
    async (colours, width) => {
      const page = await kibitz.open({
        address: "#moves=e4_e5_Nf3&depth=4&multipv=3",
        colours,
        reducedMotion: true,
        size: { width, height: 800 },
      });
      const { lines, fen } = analysisOf(page);
      await lines.nth(2).waitFor();
      await page.getByText("Depth 4", { exact: true }).waitFor();
      expect(await faultsOf(page)).toEqual([]);
      await fen.fill("8/8/8/8/8/8/8/9 w");
      await fen.press("Enter");
      await page.getByText("This FEN cannot be read", { exact: true }).waitFor();
      expect(await faultsOf(page)).toEqual([]);
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(width);
      await page.getByRole("button", { name: "Set up" }).click();
      await page.getByRole("grid", { name: "Board, being set up" }).waitFor();
      expect(await faultsOf(page)).toEqual([]);
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(width);
    },
  );

  test("is used by the keyboard alone, from the board to a line", async () => {
    const page = await kibitz.open({ address: "#moves=e4_e5&depth=4&multipv=2" });
    const { lines, square, moves } = analysisOf(page);
    await lines.nth(1).waitFor();
    await square("e2").focus();
    for (let presses = 0; presses < 40; presses++) {
      await page.keyboard.press("Tab");
      if ((await page.locator(".line-move:focus").count()) > 0) {
        break;
      }
    }
    await page.keyboard.press("ArrowRight");
    await page.locator(".shown-board-preview").waitFor();
    await page.keyboard.press("Enter");
    await expect.poll(() => moves.count()).toBe(5);
  });

  test("keeps its place while lines deepen", async () => {
    const page = await kibitz.open({ address: "#moves=d4_d5&depth=9&multipv=3" });
    const places = async () =>
      await Promise.all(
        [".search-graph", ".move-list", ".request-form"].map(async (place) =>
          (await page.locator(place).boundingBox())?.y.toFixed(0),
        ),
      );
    await page.locator(".search-graph").waitFor();
    const before = await places();
    await page.getByText("Depth 9", { exact: true }).waitFor();
    expect(await places()).toEqual(before);
  });
});
