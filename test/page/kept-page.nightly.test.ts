import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { describeWith } from "../support/needs.ts";
import { analysisOf } from "./support/analysis-page.ts";
import { launchChromium } from "./support/launch-chromium.ts";
import { usePage } from "./support/open-page.ts";

/** Browsers may keep a page in memory after the user leaves the page, and restore it with Back. */
describeWith("chromium")("a page in the back/forward cache", () => {
  const kibitz = usePage();
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium({ keepsPages: true });
  });
  afterAll(() => browser.close());
  const open = async (address: string) => {
    const page = await browser.newPage();
    onTestFinished(() => page.close());
    await page.goto(`${kibitz.url}/${address}`);
    return { page, ...analysisOf(page) };
  };

  test("a page that Back restores from the browser's memory can search again", async () => {
    const { page, moves, move, lines } = await open("#moves=e4&depth=4");
    await page.getByText("Depth 4", { exact: true }).waitFor();
    expect(await leaveAndComeBack(page), "the browser has kept the page").toBe(true);
    expect(await moves.allTextContents()).toEqual(["e4"]);
    await page.getByText("Depth 4", { exact: true }).waitFor();
    await move.fill("c5");
    await move.press("Enter");
    await page
      .getByRole("toolbar", { name: /^Line 1/ })
      .getByRole("button", { name: /^2\./ })
      .first()
      .waitFor();
    await page.getByText("Depth 4", { exact: true }).waitFor();
    expect(await lines.count()).toBe(1);
  });

  test("a page that the user left during a search completes the search after Back", async () => {
    const { page } = await open("#moves=e4_e5_Nf3&depth=15&multipv=2");
    await page.getByText(/^Depth \d+ …$/).waitFor();
    // The browser may restore the page or reload it. In both cases the search must end.
    await leaveAndComeBack(page);
    await page.getByText("Depth 15", { exact: true }).waitFor();
    expect(await page.getByRole("button", { name: "Stop" }).count()).toBe(0);
  });
});

/** Opens a link and returns with Back. Returns true if the browser restored the page from memory. */
async function leaveAndComeBack(page: Page): Promise<boolean> {
  await page.evaluate("window.wasLeft = true");
  await page.getByRole("link", { name: "API reference" }).first().click();
  await page.waitForURL("**/docs", { waitUntil: "commit" });
  // A restored page has no load event, so wait only for the commit.
  await page.goBack({ waitUntil: "commit" });
  await page.getByRole("grid", { name: "Board" }).waitFor();
  return page.evaluate<boolean>("window.wasLeft === true");
}
