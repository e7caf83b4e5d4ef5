import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { describeFakeLc0 } from "../support/fake-engine/index.ts";
import { describeWith } from "../support/needs.ts";
import { useTemporaryFolder } from "../support/temporary-folder.ts";
import { analysisOf, searchesOf } from "./support/analysis-page.ts";
import { usePage, useService } from "./support/open-page.ts";

describeWith("chromium")("an engine without depth", () => {
  const kibitz = usePage(useService({ KIBITZ_ENGINES: describeFakeLc0(useTemporaryFolder()) }));
  const fields = (page: Page) => ({
    depth: page.getByRole("spinbutton", { name: "Depth" }),
    nodes: page.getByRole("spinbutton", { name: "Nodes" }),
    engine: page.getByRole("combobox", { name: "Engine" }),
  });
  const mayDiffer = "Another search of this position may have another result.";

  test("an analysis has a field for nodes with the default of the engine, and sends no depth", async () => {
    const page = await kibitz.open({ address: "#moves=e4&depth=6&engine=leela" });
    const searches = searchesOf(page);
    const { state } = analysisOf(page);
    const { depth, nodes, engine } = fields(page);
    await state.getByText(/^Stopped at the limit of nodes/).waitFor();
    await page.getByText(mayDiffer).waitFor();
    expect(await depth.count()).toBe(0);
    expect(await nodes.getAttribute("placeholder")).toBe("100");
    await page.getByText(/ · 100 nodes · .*Lc0/).waitFor();

    await nodes.fill("30");
    await page.getByText(/ · 30 nodes · .*Lc0/).waitFor();
    expect(page.url()).toContain("nodes=30");

    // The depth stays in the settings for other engines.
    await nodes.fill("");
    await engine.selectOption("latest");
    await state.getByText("Depth 6", { exact: true }).waitFor();
    expect(await depth.inputValue()).toBe("6");
    expect(await page.getByText(mayDiffer).count()).toBe(0);
    const [byDepth, ...others] = searches.toReversed();
    expect(byDepth).toContain('"depth":6');
    expect(others.filter((sent) => sent.includes("depth"))).toEqual([]);
  });

  test("a review sends no depth, also after a reload, and shows that it is not reproducible", async () => {
    const page = await kibitz.open({ address: "#review&depth=6&engine=leela" });
    const reviews: string[] = [];
    page.on("request", (request) => {
      if (request.url().endsWith("/ReviewGame")) {
        reviews.push(request.postData() ?? "");
      }
    });
    await expect.poll(() => fields(page).depth.count()).toBe(0);
    await fields(page).nodes.fill("20");
    await page.getByLabel("A game in PGN").fill("1. e4 e5 *");
    await page.getByRole("button", { name: "Review the game" }).click();
    const isReviewed = async () => {
      await page.getByText("This engine may judge a position differently the next time.").waitFor();
      await page.getByText(/Lc0.*, 20 nodes, 3 positions$/).waitFor();
    };
    await isReviewed();
    await page.reload();
    await isReviewed();
    expect(reviews).toHaveLength(2);
    expect(reviews.filter((sent) => sent.includes('"depth"') || !sent.includes('"nodes"'))).toEqual([]);
  });

  test("an engine that was left out cannot be chosen, and the list has the reason", async () => {
    const page = await kibitz.open();
    const left = fields(page).engine.locator('option[value="gone"]');
    await left.waitFor({ state: "attached" });
    expect(await left.textContent()).toMatch(/, not available: the command missing does not exist\.$/);
    expect(await left.isDisabled()).toBe(true);
  });
});
