/** Takes screenshots of the page with Chromium. With `--docs`, writes only `docs/page.png`. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Browser, Page } from "playwright-core";
import { buildPage } from "../test/page/support/build-page.ts";
import { launchChromium } from "../test/page/support/launch-chromium.ts";
import { analysisScene, type Scene, scenes } from "../test/page/support/scenes.ts";
import { findChromium } from "../test/support/find-browser.ts";
import { quickestSettings } from "../test/support/quickest-settings.ts";
import { type Server, startServer } from "../test/support/start-server.ts";

const sizes = [
  { width: 360, height: 740 },
  { width: 820, height: 1180 },
  { width: 1280, height: 800 },
  { width: 1920, height: 1080 },
] as const;

const docsOnly = process.argv.includes("--docs");
if (findChromium() === undefined) {
  console.log("No Chromium is here: docs/page.png stays as it is");
  process.exit(docsOnly ? 0 : 1);
}

const root = fileURLToPath(new URL("..", import.meta.url));
const folder = join(root, "screenshots");
mkdirSync(folder, { recursive: true });
const dataDir = mkdtempSync(join(tmpdir(), "kibitz-screenshots-"));
await buildPage();
// The second server allows one request per minute, so that the page shows the error of the limit.
const server = await startWith("unlimited", []);
const limited = await startWith("limited", [{ name: "minute", quota: 1, window_s: 60, unit: "request" }]);
const browser = await launchChromium();
try {
  // Hide measured times, so that the screenshot changes only if the page changes.
  const shown = join(root, "docs/page.png");
  const visit: Scene = {
    ...analysisScene,
    reach: async (page) => {
      await analysisScene.reach(page);
      await hideTimes(page);
    },
  };
  await shoot(browser, visit, "light", { width: 1280, height: 800 }, shown, false);
  console.log(shown);
  for (const colours of docsOnly ? [] : (["light", "dark"] as const)) {
    for (const size of sizes) {
      for (const scene of scenes) {
        const file = join(folder, `${scene.name.replaceAll(" ", "-")}-${size.width}-${colours}.png`);
        await shoot(browser, scene, colours, size, file);
        console.log(file);
      }
    }
  }
} finally {
  await browser.close();
  await Promise.all([server.stop(), limited.stop()]);
  rmSync(dataDir, { recursive: true });
}

function startWith(name: string, rates: readonly object[]): Promise<Server> {
  const folder = join(dataDir, name);
  const plans = join(dataDir, `${name}.json`);
  writeFileSync(plans, JSON.stringify({ plans: [{ id: "keyless", limits: { rates } }] }));
  return startServer({
    ...quickestSettings,
    KIBITZ_WASM_BUILD: "fast",
    KIBITZ_PAGE: "on",
    KIBITZ_ACCESS: "public",
    KIBITZ_PLANS: plans,
    KIBITZ_DEFAULT_ENGINE: "stockfish-19",
    KIBITZ_DATA_DIR: folder,
    // Turn caches off, so that the next screenshot shows a running review again.
    KIBITZ_CACHE_MB: "0",
    KIBITZ_STORE_MB: "0",
  });
}

async function hideTimes(page: Page): Promise<void> {
  await page.locator(".search-figures summary").evaluate((figures) => {
    figures.textContent = (figures.textContent ?? "").replace(/ · [^·]*\/s · [^·]* s(?= ·|$)/, "");
  });
}

async function shoot(
  browser: Browser,
  { address, isLimited, reach }: Scene,
  colorScheme: "light" | "dark",
  viewport: { readonly width: number; readonly height: number },
  path: string,
  fullPage = true,
): Promise<void> {
  const page = await browser.newPage({ viewport, colorScheme, reducedMotion: "reduce" });
  await page.goto(`${(isLimited ? limited : server).url}/${address}`);
  await reach(page);
  await page.screenshot({ path, fullPage });
  await page.close();
}
