import axe from "axe-core";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { describeWith } from "../support/needs.ts";
import { analysisOf, copied, searchesOf, settle, withClipboard } from "./support/analysis-page.ts";
import { usePage, useServiceInProcess } from "./support/open-page.ts";
import { violationsIn } from "./support/test-accessibility.ts";

describeWith("chromium")("choices that the browser keeps", () => {
  const kibitz = usePage();
  const newTab = async (page: Page, address: string, url = kibitz.url) => {
    const tab = await page.context().newPage();
    await tab.goto(`${url}/${address}`);
    await tab.locator("cg-board piece").first().waitFor();
    return { tab, ...analysisOf(tab) };
  };
  const display = async (page: Page) => {
    await page.getByRole("button", { name: "Display" }).click();
    return page.getByRole("dialog", { name: "Display" });
  };

  test("the switches for arrows, bar and lines hide them, also after a reload and in another tab", async () => {
    const page = await kibitz.open({ address: "#moves=e4&depth=3", ownTab: true });
    const { lines, score } = analysisOf(page);
    await lines.first().waitFor();
    const arrows = page.locator(".cg-shapes line");
    await expect.poll(() => arrows.count()).toBe(1);
    const dialog = await display(page);
    for (const name of ["Arrows of the best moves", "Evaluation bar", "Lines of the engine"]) {
      await dialog.getByRole("switch", { name }).press("Space");
    }
    await page.evaluate(axe.source);
    expect(await violationsIn(page, {})).toEqual([]);
    await dialog.getByRole("button", { name: "Close" }).press("Enter");
    await page.reload();
    const other = await newTab(page, "#moves=d4&depth=3");
    for (const tab of [page, other.tab]) {
      await tab.getByText("Depth 3", { exact: true }).waitFor();
      const counts = [analysisOf(tab).lines, analysisOf(tab).score, tab.locator(".cg-shapes line")];
      expect(await Promise.all(counts.map((part) => part.count()))).toEqual([0, 0, 0]);
    }
    await (await display(page)).getByRole("switch", { name: "Evaluation bar" }).press("Space");
    await score.waitFor();
  });

  test("an analysis that is switched off stays off after a reload and in another tab", async () => {
    const page = await kibitz.open({ address: "#depth=3", ownTab: true });
    await analysisOf(page).engine.uncheck();
    const searches = searchesOf(page);
    await page.reload();
    await analysisOf(page).move.fill("e4");
    await analysisOf(page).move.press("Enter");
    await settle(page);
    expect(searches).toEqual([]);
    expect(await (await newTab(page, "")).engine.isChecked()).toBe(false);
  });

  test("depth, lines and engine are kept for other tabs, but not those of an address", async () => {
    const page = await kibitz.open({ address: "#moves=e4&depth=5&multipv=3", ownTab: true });
    const fields = (tab: Page) => {
      const texts = ["Depth", "Lines"].map((name) => tab.getByRole("spinbutton", { name }).inputValue());
      return Promise.all([...texts, tab.getByRole("combobox", { name: "Engine" }).inputValue()]);
    };
    const engine = page.getByRole("combobox", { name: "Engine" });
    await engine.getByRole("option").nth(1).waitFor({ state: "attached" });
    const id = await engine.getByRole("option").nth(1).getAttribute("value");
    expect(await fields((await newTab(page, "")).tab)).toEqual(["", "", "latest"]);
    await page.getByRole("spinbutton", { name: "Depth" }).fill("4");
    await engine.selectOption(id);
    expect(await fields((await newTab(page, "")).tab)).toEqual(["4", "", id]);
    const linked = await newTab(page, "#moves=d4&depth=6");
    expect(await fields(linked.tab)).toEqual(["6", "", id]);
    await linked.tab.reload();
    expect(await fields(linked.tab)).toEqual(["6", "", id]);
    expect(await fields((await newTab(page, "#moves=d4")).tab)).toEqual(["4", "", id]);
    await page.getByText(/^More settings/).click();
    await page.getByRole("button", { name: "Reset all settings" }).click();
    expect(await fields((await newTab(page, "")).tab)).toEqual(["", "", "latest"]);
  });

  test("an engine that the service no longer has is not kept", async () => {
    const page = await kibitz.open({ address: "#depth=3", ownTab: true });
    await page.evaluate("localStorage.setItem('kibitz-settings', 'engine=stockfish-1&depth=3')");
    const { tab } = await newTab(page, "#moves=e4");
    await tab.getByText("Depth 3", { exact: true }).waitFor();
    expect(await tab.evaluate("localStorage.getItem('kibitz-settings')")).toBe("depth=3");
  });

  test("the board can be blue or brown", async () => {
    const page = await kibitz.open({ ownTab: true });
    const square = () =>
      page.evaluate(
        "getComputedStyle(document.querySelector('cg-board')).backgroundImage.match(/rgb[^)]*/)[0]",
      );
    await page.locator("cg-board piece").first().waitFor();
    const brown = await square();
    await (await display(page)).getByRole("radio", { name: "Blue" }).check();
    const blue = await square();
    expect(blue).not.toBe(brown);
    await page.reload();
    await page.locator("cg-board piece").first().waitFor();
    expect(await square()).toBe(blue);
    await (await display(page)).getByRole("radio", { name: "Brown" }).check();
    expect(await square()).toBe(brown);
  });

  const withKeys = usePage(useServiceInProcess({ KIBITZ_ACCESS: "public" }));
  test("a key is remembered on this device only if the user wants it, is in no link, and can be forgotten", async () => {
    const page = await withKeys.open({ ownTab: true, ...withClipboard });
    await page.getByRole("heading", { name: "API call" }).click();
    await page.getByRole("button", { name: "Get a free key" }).click();
    const remember = page.getByRole("checkbox", { name: "Remember on this device" });
    await remember.waitFor();
    expect(await remember.isChecked()).toBe(false);
    const key = String(await page.evaluate('sessionStorage.getItem("kibitz-key")'));
    expect(key).toMatch(/^kbz_/);
    expect(await page.evaluate("JSON.stringify(localStorage)")).not.toContain(key);
    await remember.press("Space");
    await page.getByText("Kept on this device until you forget it").waitFor();
    await page.evaluate(axe.source);
    expect(await violationsIn(page, {})).toEqual([]);
    const { tab } = await newTab(page, "", withKeys.url);
    await tab.getByText("Free plan").waitFor();
    expect(await copied(tab, "Copy link")).not.toContain("kbz_");
    expect(tab.url()).not.toContain("kbz_");
    await tab.getByRole("button", { name: "Forget" }).click();
    await tab.getByText("Calls are made without a key.").waitFor();
    expect(await tab.evaluate("JSON.stringify([localStorage, sessionStorage])")).not.toContain(key);
  });
});
