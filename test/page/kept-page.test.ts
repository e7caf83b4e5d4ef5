import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { describeWith } from "../support/needs.ts";
import { analysisOf } from "./support/analysis-page.ts";
import { launchChromium } from "./support/launch-chromium.ts";
import { usePage } from "./support/open-page.ts";

/** Browsers keep a page that was left, with all that its script knows, and show it again as it was. */
describeWith("chromium")("a page that the browser has kept", () => {
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

  test("a page that the browser has kept analyses on when it is shown again", async () => {
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

  test("a page that was left during its search ends the search when it is shown again", async () => {
    const { page } = await open("#moves=e4_e5_Nf3&depth=15&multipv=2");
    await page.getByText(/^Depth \d+ …$/).waitFor();
    // The browser may keep the page or load it again: both must end the search.
    await leaveAndComeBack(page);
    await page.getByText("Depth 15", { exact: true }).waitFor();
    expect(await page.getByRole("button", { name: "Stop" }).count()).toBe(0);
  });
});

/** Follows a link and goes back. Returns true if the browser kept the page. */
async function leaveAndComeBack(page: Page): Promise<boolean> {
  await page.evaluate("window.wasLeft = true");
  await page.getByRole("link", { name: "API reference" }).first().click();
  await page.waitForURL("**/docs", { waitUntil: "commit" });
  // A kept page loads nothing.
  await page.goBack({ waitUntil: "commit" });
  await page.getByRole("grid", { name: "Board" }).waitFor();
  return page.evaluate<boolean>("window.wasLeft === true");
}
