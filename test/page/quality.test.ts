import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { describeWith } from "../support/needs.ts";
import { usePlansFile } from "../support/plans-file.ts";
import { analysisOf } from "./support/analysis-page.ts";
import { usePage, useService } from "./support/open-page.ts";
import { analysisScene } from "./support/scenes.ts";
import { makeSlow } from "./support/slow-device.ts";

describeWith("chromium")("the quality of the page", () => {
  // The default limits of callers without a key, except that the request rate is not limited.
  const plans = usePlansFile({ id: "keyless", limits: { rates: [] } });
  const kibitz = usePage(useService({ KIBITZ_ACCESS: "public", KIBITZ_PLANS: plans }));

  test("the page needs one style sheet and one script before it is drawn, and its layout stays stable", async () => {
    const page = await kibitz.open({ ownTab: true, prepare: (page) => makeSlow(page) });
    await page.locator("cg-board piece").first().waitFor();
    const { blocking, scripts, shift } = await page.evaluate<Loaded>(loadedInPage);
    expect(blocking).toEqual([expect.stringMatching(/\.css$/)]);
    expect(scripts).toEqual([expect.stringMatching(/\.js$/)]);
    expect(shift).toBeLessThan(0.1);
  });

  test("all controls of the page can be reached and used by keyboard alone", async () => {
    const page = await kibitz.open({ address: analysisScene.address });
    await analysisScene.reach(page);
    await page.keyboard.press("Tab");
    expect(await focused(page)).toBe("Skip to the content");
    await page.keyboard.press("Enter");
    expect(await page.evaluate("document.activeElement.localName")).toBe("main");
    // Every focused element must have a visible outline or shadow.
    const seen = new Set<string>();
    await page.keyboard.press("Tab");
    while (await page.evaluate("document.activeElement !== document.body")) {
      seen.add(await focused(page));
      const outline = await page.evaluate(
        "(({ outlineStyle, boxShadow }) => outlineStyle !== 'none' || boxShadow !== 'none')(getComputedStyle(document.activeElement))",
      );
      expect(outline, await focused(page)).toBe(true);
      await page.keyboard.press("Tab");
    }
    for (const name of ["Flip board", "Share", "FEN", "Deeper", "Move", "Depth", "API call"]) {
      expect([...seen]).toContain(name);
    }
    await page.getByRole("textbox", { name: "Move" }).focus();
    await page.keyboard.type("Nxb5");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Nxb5" }).first().waitFor();
    await page.getByRole("link", { name: "Game review" }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Game review" }).waitFor();
  });

  test("a line can be reached from the board and played by keyboard alone", async () => {
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
    await expect.poll(() => moves.count()).toBe(4);
  });

  test("the page has no animations if the user prefers reduced motion", async () => {
    const page = await kibitz.open({ address: analysisScene.address, reducedMotion: true });
    const moving = page.evaluate<number>(`new Promise((resolve) => {
      let most = 0;
      const look = () => {
        most = Math.max(most, document.getAnimations().filter(({ effect }) => effect.getComputedTiming().duration > 0).length);
        if (performance.now() < (globalThis.lookUntil ?? Infinity)) { requestAnimationFrame(look); } else { resolve(most); }
      };
      look();
    })`);
    await analysisScene.reach(page);
    await page.getByRole("button", { name: "One move back" }).click();
    // Observe the page for 500 ms after the last step.
    await page.evaluate("globalThis.lookUntil = performance.now() + 500");
    expect(await moving).toBe(0);
  });

  test("the page shows the same chess position after Back, after Forward, and if its link is opened in another tab", async () => {
    const page = await kibitz.open({ address: "#moves=e4_e5&depth=2" });
    await page.getByText("Depth 2", { exact: true }).waitFor();
    const fen = page.getByRole("textbox", { name: "FEN" });
    const before = await fen.inputValue();
    await page.getByRole("link", { name: "Game review" }).click();
    await page.getByRole("heading", { name: "Game review" }).waitFor();
    await page.goBack();
    expect(await fen.inputValue()).toBe(before);
    await page.goForward();
    await page.getByRole("heading", { name: "Game review" }).waitFor();
    await page.goBack();
    await page.getByRole("link", { name: "API reference" }).first().click();
    await page.waitForURL("**/docs");
    await page.goBack();
    await expect.poll(() => fen.inputValue()).toBe(before);

    const other = await page.context().newPage();
    await other.goto(page.url());
    await other.getByText("Depth 2", { exact: true }).waitFor();
    expect(await other.getByRole("textbox", { name: "FEN" }).inputValue()).toBe(before);
  });

  test("the page sends an API key only from the tab in which the user entered the key", async () => {
    const first = await kibitz.open({ address: "#moves=e4&depth=2" });
    const second = await first.context().newPage();
    await second.goto(`${kibitz.url}/#moves=d4&depth=2`);
    await second.getByText("Depth 2", { exact: true }).waitFor();
    const sent: (string | undefined)[] = [];
    for (const tab of [first, second]) {
      tab.on("request", (request) => sent.push(request.headers().authorization));
    }
    await first.getByRole("heading", { name: "API call" }).click();
    await first.getByLabel("Key", { exact: true }).fill(`kbz_${"x".repeat(40)}`);
    await first.getByRole("button", { name: "Use this key" }).click();
    await expect.poll(() => sent).toContain(`Bearer kbz_${"x".repeat(40)}`);
    sent.length = 0;
    await analysisOf(second).move.fill("d5");
    await analysisOf(second).move.press("Enter");
    await second
      .getByRole("toolbar", { name: /^Line 1/ })
      .getByText(/^2\./)
      .first()
      .waitFor();
    expect(sent.length).toBeGreaterThan(0);
    expect(sent.filter(Boolean)).toEqual([]);
    expect(await first.getByRole("heading", { name: "Analysis" }).count()).toBe(1);
  });
});

interface Loaded {
  /** Files that the browser must load before it draws the page. */
  readonly blocking: readonly string[];
  readonly scripts: readonly string[];
  readonly shift: number;
}

const loadedInPage = `new Promise((resolve) => {
  let shift = 0;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) { shift += entry.hadRecentInput ? 0 : entry.value; }
  }).observe({ type: "layout-shift", buffered: true });
  const loaded = performance.getEntriesByType("resource");
  const blocking = loaded.filter(({ renderBlockingStatus }) => renderBlockingStatus === "blocking").map(({ name }) => name);
  const scripts = loaded.map(({ name }) => name).filter((name) => name.endsWith(".js"));
  setTimeout(() => resolve({ blocking, scripts, shift }), 300);
})`;

function focused(page: Page): Promise<string> {
  return page.evaluate(`(() => {
    const { activeElement: at } = document;
    const label = at.labels?.[0]?.textContent;
    return (at.getAttribute("aria-label") ?? label ?? at.textContent).trim();
  })()`);
}
