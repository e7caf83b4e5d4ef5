import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startFen } from "../../protocols/json/serve-gateway.ts";
import { findChromium } from "../../support/find-browser.ts";
import { describeWith } from "../../support/needs.ts";
import { useApp } from "../../support/running-app.ts";

const shownCalls = [
  "Analysis-evaluate",
  "Analysis-findBestMove",
  "Analysis-streamEvaluate",
  "Analysis-evaluateBatch",
  "Analysis-listEngines",
  "Analysis-getPrice",
  "Analysis-probeTablebase",
  "Game-reviewGame",
  "Key-createKey",
  "Key-getKey",
  "Key-revokeKey",
];

interface Docs {
  readonly page: Page;
  readonly asked: readonly string[];
  readonly complaints: readonly string[];
}

describeWith("chromium")("the API page in Chromium", () => {
  const app = useApp();
  let browser: Browser | undefined;
  /** Loaded once for all tests, because loading takes seconds. */
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

  test("the API page in a browser shows every call, loads files only from its own server, and logs no errors", async () => {
    const { page, asked, complaints } = opened();
    expect(await page.title()).toBe("Kibitz – API reference");
    const shown = await page.locator(".opblock").evaluateAll((blocks) => blocks.map(({ id }) => id));
    expect(shown).toEqual(shownCalls.map((operation) => `operations-${operation}`));
    // One call with a body, one with a query, and one without both.
    for (const operation of ["Analysis-findBestMove", "Analysis-getPrice", "Key-revokeKey"]) {
      await page.locator(`#operations-${operation} .opblock-summary-control`).click();
      await page.waitForSelector(`#operations-${operation} .responses-table`);
    }
    expect(asked.filter((url) => !url.startsWith(`${app.url}/`) && !url.startsWith("data:"))).toEqual([]);
    expect(complaints).toEqual([]);
  });

  test("the API page in a browser shows the known values of the fields of requests and responses", async () => {
    const { page } = opened();
    await page.locator("section.models > h4 button").click();
    const fieldOf = async (model: string, name: string) => {
      const schema = page
        .locator('section.models [data-json-schema-level="0"]')
        .filter({ has: page.getByText(model, { exact: true }) });
      await schema.locator(".json-schema-2020-12-expand-deep-button").first().click();
      return schema
        .locator(".json-schema-2020-12-property")
        .filter({ hasText: new RegExp(`^${name}`) })
        .first()
        .innerText();
    };
    const path = await fieldOf("AnalysisRequest", "path");
    expect(path).toMatch(/auto[\s\S]+wasm[\s\S]+native/);
    const claim = await fieldOf("FindBestMoveResult", "draw_claimable");
    expect(claim).toMatch(/fifty_moves[\s\S]+threefold_repetition/);
  });

  test("the API page in a browser can send a request and shows the response", async () => {
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
