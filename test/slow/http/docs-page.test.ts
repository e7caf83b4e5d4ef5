import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startFen } from "../../protocols/json/serve-gateway.ts";
import { findChromium } from "../../support/find-chromium.ts";
import { describeWith } from "../../support/needs.ts";
import { useApp } from "../../support/running-app.ts";

/** The page as people see it, in a real browser. */

const operations = [
  "Analysis-evaluate",
  "Analysis-findBestMove",
  "Analysis-streamEvaluate",
  "Analysis-evaluateBatch",
  "Analysis-listEngines",
  "Analysis-listEnginesAlias",
  "Analysis-getPrice",
  "Analysis-getPriceAlias",
  "Game-reviewGame",
  "Key-createKey",
  "Key-getKey",
  "Key-revokeKey",
];

/** The page when it shows its calls, and what it asked for and complained of on the way. */
interface Docs {
  readonly page: Page;
  readonly asked: readonly string[];
  readonly complaints: readonly string[];
}

describeWith("chromium")("the page of the API in Chromium", () => {
  const app = useApp();
  let browser: Browser | undefined;
  /** Opened once: reading the page takes the browser seconds. */
  let docs: Docs | undefined;

  beforeAll(async () => {
    browser = await chromium.launch({
      executablePath: findChromium() ?? "",
      args: ["--no-sandbox", "--disable-gpu"],
    });
    docs = await openDocs(browser);
  });
  afterAll(() => browser?.close());

  async function openDocs(browser: Browser): Promise<Docs> {
    const page: Page = await browser.newPage();
    const asked: string[] = [];
    const complaints: string[] = [];
    page.on("request", (request) => asked.push(request.url()));
    page.on("pageerror", (error) => complaints.push(error.message));
    page.on("console", (message) => {
      if (message.type() === "error" || message.type() === "warning") {
        complaints.push(message.text());
      }
    });
    await page.goto(`${app.url}/docs`);
    await page.waitForSelector(".opblock");
    return { page, asked, complaints };
  }

  function opened(): Docs {
    if (docs === undefined) {
      throw new Error("the page is open only while tests run");
    }
    return docs;
  }

  test("the page of the API shows every call, loads only from this server, and breaks no rule of its own", async () => {
    const { page, asked, complaints } = opened();
    expect(await page.title()).toBe("Kibitz – API reference");
    const shown = await page.locator(".opblock").evaluateAll((blocks) => blocks.map(({ id }) => id));
    expect(shown).toEqual(operations.map((operation) => `operations-${operation}`));
    // One of each kind: with a body, with a query, with neither.
    for (const operation of ["Analysis-findBestMove", "Analysis-getPrice", "Key-revokeKey"]) {
      await page.locator(`#operations-${operation} .opblock-summary-control`).click();
      await page.waitForSelector(`#operations-${operation} .responses-table`);
    }
    expect(asked.filter((url) => !url.startsWith(`${app.url}/`) && !url.startsWith("data:"))).toEqual([]);
    expect(complaints).toEqual([]);
  });

  test("the page of the API lets a reader try a call", async () => {
    const { page, complaints } = opened();
    const call = page.locator("#operations-Analysis-evaluate");
    await call.locator(".opblock-summary-control").click();
    await call.locator("textarea").fill(JSON.stringify({ fen: startFen, depth: 2 }));
    await call.locator("button.execute").click();
    const answer = call.locator(".live-responses-table");
    await answer.waitFor();
    expect(await answer.innerText()).toMatch(/200[\s\S]*"best_move"/);
    expect(complaints).toEqual([]);
  });
});
