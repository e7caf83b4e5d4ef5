import axe from "axe-core";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { describeWith } from "../support/needs.ts";
import { usePlansFile } from "../support/plans-file.ts";
import { usePage } from "./support/open-page.ts";
import { analysisScene, reviewScene, scenes } from "./support/scenes.ts";

/**
 * A telephone of the cheaper kind on Lighthouse's "slow 4G": what its first visitors may have. As many times slower than a machine
 * that does some work, which a browser is given, in so many milliseconds.
 */
const slowDevice = {
  cpuSlowdown: 4,
  workMs: 90,
  latencyMs: 150,
  downloadBytesPerS: 1_638_400 / 8,
  uploadBytesPerS: 96_000,
};

const sizes = [
  { width: 320, height: 640 },
  { width: 1280, height: 800 },
] as const;

describeWith("chromium")("the page, for everybody", () => {
  // As everybody is limited, but for how often.
  const plans = usePlansFile({ id: "keyless", limits: { rates: [] } });
  const kibitz = usePage({ KIBITZ_ACCESS: "public", KIBITZ_PLANS: plans });

  describe.each(scenes)("$name", ({ address, reach }) => {
    test.each(sizes)(
      "has nothing that axe finds, light and dark, and is not wider than $width px",
      async (size) => {
        const page = await kibitz.open({ address, size, reducedMotion: true });
        await reach(page);
        for (const colorScheme of ["light", "dark"] as const) {
          await page.emulateMedia({ colorScheme });
          expect(await faultsIn(page), colorScheme).toEqual([]);
        }
        expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(size.width);
      },
    );
  });

  test("is seen within a second on a slow device, the first time, and does not jump", async () => {
    const visits: { readonly timesTheDevice: number; readonly paintMs: number; readonly shift: number }[] =
      [];
    const best = () => Math.min(...visits.map(({ paintMs, timesTheDevice }) => paintMs / timesTheDevice));
    // The machine that tests may be slow as well, for a moment.
    while (visits.length < 3 || (best() >= 1000 && visits.length < 8)) {
      let timesTheDevice = 1;
      const page = await kibitz.open({
        prepare: async (page) => {
          timesTheDevice = await makeSlow(page);
        },
      });
      await page.locator("cg-board piece").first().waitFor();
      visits.push({
        timesTheDevice,
        ...(await page.evaluate<{ paintMs: number; shift: number }>(measureInPage)),
      });
      await page.close();
    }
    console.log("first paint and shifts on a slow device:", visits);
    expect(best()).toBeLessThan(1000);
    expect(Math.max(...visits.map(({ shift }) => shift))).toBeLessThan(0.1);
  });

  test("can be used by keyboard alone: from the skip link through the views to an answer and back", async () => {
    const page = await kibitz.open({ address: analysisScene.address });
    await analysisScene.reach(page);
    await page.keyboard.press("Tab");
    expect(await focused(page)).toBe("Skip to the content");
    await page.keyboard.press("Enter");
    expect(await page.evaluate("document.activeElement.localName")).toBe("main");
    // Everything that can be reached shows that it has been.
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
    for (const name of ["Flip board", "Copy link", "FEN", "Analyse", "Move", "Depth", "Copy curl"]) {
      expect([...seen]).toContain(name);
    }
    await page.getByRole("textbox", { name: "Move" }).focus();
    await page.keyboard.type("Nxb5");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Nxb5" }).first().waitFor();
    await page.getByRole("link", { name: "Game review" }).focus();
    await page.keyboard.press("Enter");
    await page.getByLabel("A game in PGN").waitFor();
  });

  test("moves nothing where no motion is wanted", async () => {
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
    // However long the way there took, what it ends with is seen.
    await page.evaluate("globalThis.lookUntil = performance.now() + 2000");
    expect(await moving).toBe(0);
  });

  test("comes back as it was left: by the way back, forward, and by its link in another tab", async () => {
    const page = await kibitz.open({ address: analysisScene.address });
    await analysisScene.reach(page);
    const fen = page.getByRole("textbox", { name: "FEN" });
    const before = await fen.inputValue();
    await page.getByRole("link", { name: "Game review" }).click();
    await page.getByLabel("A game in PGN").waitFor();
    await page.goBack();
    expect(await fen.inputValue()).toBe(before);
    await page.goForward();
    await page.getByLabel("A game in PGN").waitFor();
    await page.goBack();
    await page.getByRole("link", { name: "API reference" }).first().click();
    await page.waitForURL("**/docs");
    await page.goBack();
    await expect.poll(() => fen.inputValue()).toBe(before);

    const other = await page.context().newPage();
    await other.goto(page.url());
    await analysisScene.reach(other);
    expect(await other.getByRole("textbox", { name: "FEN" }).inputValue()).toBe(before);
  });

  test("keeps two tabs apart: a key that is put into one is sent by no other", async () => {
    const first = await kibitz.open({ address: analysisScene.address });
    const second = await first.context().newPage();
    await second.goto(`${kibitz.url}/${reviewScene.address}`);
    const sent: (string | undefined)[] = [];
    for (const tab of [first, second]) {
      tab.on("request", (request) => sent.push(request.headers().authorization));
    }
    await first.getByLabel("Key", { exact: true }).fill(`kbz_${"x".repeat(40)}`);
    await first.getByRole("button", { name: "Use this key" }).click();
    await expect.poll(() => sent).toContain(`Bearer kbz_${"x".repeat(40)}`);
    sent.length = 0;
    await reviewScene.reach(second);
    expect(sent.length).toBeGreaterThan(0);
    expect(sent.filter(Boolean)).toEqual([]);
    expect(await first.getByRole("heading", { name: "Analysis" }).count()).toBe(1);
  });
});

/**
 * Makes the browser as slow as the device, as far as this machine is quicker, by itself and as busy as it is.
 *
 * @returns how many times slower than the device it is then: 1, unless this machine is slower already
 */
async function makeSlow(page: Page): Promise<number> {
  const browser = await page.context().newCDPSession(page);
  const { cpuSlowdown, workMs, latencyMs, downloadBytesPerS, uploadBytesPerS } = slowDevice;
  const slower = Math.max(1, (await page.evaluate<number>(timeOfWork)) / workMs);
  await browser.send("Emulation.setCPUThrottlingRate", { rate: Math.max(1, cpuSlowdown / slower) });
  await browser.send("Network.emulateNetworkConditions", {
    offline: false,
    latency: latencyMs,
    downloadThroughput: downloadBytesPerS,
    uploadThroughput: uploadBytesPerS,
  });
  return Math.max(1, slower / cpuSlowdown);
}

/** In milliseconds, the median of five: what a browser takes for it changes with what else the machine does. */
const timeOfWork = `(() => {
  const took = [];
  for (let turn = 0; turn < 5; turn++) {
    const beganAt = performance.now();
    let sum = 0;
    for (let at = 0; at < 1e7; at++) { sum = (sum * 31 + at) | 0; }
    took.push(performance.now() - beganAt + sum * 0);
  }
  return took.toSorted((a, b) => a - b)[2];
})()`;

const measureInPage = `new Promise((resolve) => {
  let shift = 0;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) { shift += entry.hadRecentInput ? 0 : entry.value; }
  }).observe({ type: "layout-shift", buffered: true });
  const [{ startTime }] = performance.getEntriesByName("first-contentful-paint");
  setTimeout(() => resolve({ paintMs: Math.round(startTime), shift }), 300);
})`;

/** What axe finds wrong, in a line each. */
async function faultsIn(page: Page): Promise<readonly string[]> {
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate<axe.AxeResults>("axe.run()");
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 200)} ${failureSummary}`),
  );
}

/** The name of what has the focus. */
function focused(page: Page): Promise<string> {
  return page.evaluate(`(() => {
    const { activeElement: at } = document;
    const label = at.labels?.[0]?.textContent;
    return (at.getAttribute("aria-label") ?? label ?? at.textContent).trim();
  })()`);
}
