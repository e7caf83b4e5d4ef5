import { cpSync, globSync, statSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import axe from "axe-core";
import type { Page, Request } from "playwright-core";
import { expect, test } from "vitest";
import { createWebPage } from "../../src/http/pages/web-page.ts";
import { startListener } from "../http/start-listener.ts";
import { describeWith } from "../support/needs.ts";
import { useTemporaryFolder } from "../support/temporary-folder.ts";
import { usePage } from "./support/open-page.ts";
import { startPrefixProxy } from "./support/prefix-proxy.ts";
import { violationsIn } from "./support/test-accessibility.ts";

const built = fileURLToPath(new URL("../../dist/web", import.meta.url));

/** JavaScript that returns the address and the transferred bytes of each loaded asset. */
const loadedAssets =
  "performance.getEntriesByType('resource').filter(({ name }) => name.includes('/assets/')).map(({ name, transferSize }) => [name, transferSize])";

describeWith("chromium")("the served page", () => {
  const kibitz = usePage();
  const folder = useTemporaryFolder();

  test("the page opens without errors in the browser's console, and sends requests only to its own server", async () => {
    const asked: string[] = [];
    const page = await kibitz.open({ ownTab: true, prepare: noteAsked(asked) });
    await page.locator("cg-board piece").first().waitFor();
    await page.getByRole("link", { name: "Game review" }).click();
    await page.getByRole("heading", { name: "Game review" }).waitFor();
    expect(asked.length).toBeGreaterThan(3);
    expect(asked.filter((url) => !url.startsWith(`${kibitz.url}/`))).toEqual([]);
  });

  test("all files of the page together are smaller than 300 kB after compression with gzip", () => {
    const files = globSync("**/*.gz", { cwd: built }).filter((file) => !file.includes("licences"));
    const bytes = files.map((file) => statSync(`${built}/${file}`).size);
    expect(files).toContain("index.html.gz");
    expect(bytes.reduce((sum, size) => sum + size, 0)).toBeLessThan(300_000);
  });

  test("a first visit transfers at most 200 kB, with all its requests and their headers", async () => {
    const transfers: Promise<readonly [path: string, bytes: number]>[] = [];
    const sizeOf = async (request: Request) => {
      const { responseBodySize, responseHeadersSize } = await request.sizes();
      return [new URL(request.url()).pathname, responseBodySize + responseHeadersSize] as const;
    };
    const page = await kibitz.open({
      ownTab: true,
      prepare: (page) => void page.on("requestfinished", (request) => transfers.push(sizeOf(request))),
    });
    await page.locator("cg-board piece").first().waitFor();
    const paths = async () => (await Promise.all(transfers)).map(([path]) => path).join(" ");
    // The request for the plans or the one for the engines may end last.
    for (const path of [/^\/ /, /\.js/, /\.css/, /GetPrice/, /ListEngines/, /icon/]) {
      await expect.poll(paths).toMatch(path);
    }
    const bytes = (await Promise.all(transfers)).reduce((sum, [, size]) => sum + size, 0);
    expect(bytes).toBeLessThan(200_000);
    expect(bytes, "the sizes are known").toBeGreaterThan(50_000);
  });

  test("a second visit loads only the document, because the browser has cached the assets", async () => {
    const page = await kibitz.open({ ownTab: true });
    const loaded = async () => new Map(await page.evaluate<readonly [string, number][]>(loadedAssets));
    const atFirst = await loaded();
    const answers: (readonly [string, number])[] = [];
    page.on("response", (answer) => answers.push([new URL(answer.url()).pathname, answer.status()]));
    await page.goto("about:blank");
    await page.goto(`${kibitz.url}/`);
    await page.getByRole("main").waitFor();
    const again = await loaded();
    expect(answers).toContainEqual(["/", 200]);
    expect(atFirst.size).toBeGreaterThan(1);
    // Compare only assets that the first visit had already loaded.
    expect([...atFirst.keys()].map((name) => [name, again.get(name) ?? 0])).toEqual(
      [...atFirst.keys()].map((name) => [name, 0]),
    );
  });

  test("the page, its assets, its requests and the API reference work behind a proxy that strips a path prefix", async () => {
    const base = await startPrefixProxy(kibitz.url, "/chess/kibitz");
    const asked: string[] = [];
    const page = await kibitz.open({
      base,
      address: "#moves=e4&depth=2",
      prepare: noteAsked(asked),
    });
    await page.getByText("Depth 2", { exact: true }).waitFor();
    await page.getByRole("navigation").getByRole("link", { name: "API reference" }).click();
    await page.locator(".opblock").first().waitFor();
    expect(asked.filter((url) => !url.startsWith(base) && !url.startsWith("data:"))).toEqual([]);
    expect(asked).toContain(`${base}chess.analysis.v1.AnalysisService/StreamEvaluate`);
    expect(asked).toContain(`${base}openapi.json`);
  });

  test.each([
    ["problems", "Error codes", []],
    ["problems/invalid-fen", "Invalid FEN", []],
    ["nothing/here", "Not found", []],
    // axe finds these violations in Swagger UI.
    ["docs", "API reference", ["nested-interactive", "region", "landmark-unique", "heading-order"]],
  ])(
    "the page at /%s has the colours of the main page, fits a telephone, passes the accessibility test axe, and links to the board",
    async (address, title, ofLibrary) => {
      const size = { width: 360, height: 740 };
      const page = await kibitz.open({ address, size, ownTab: true, provoked: /status of 404/ });
      expect(await page.title()).toBe(`Kibitz – ${title}`);
      if (address === "docs") {
        await page.locator("#operations-Analysis-getPrice .opblock-summary-control").click();
        await page.locator("#operations-Analysis-getPrice .responses-table").waitFor();
      }
      await page.evaluate(axe.source);
      const rules = Object.fromEntries(ofLibrary.map((id) => [id, { enabled: false }]));
      for (const [colorScheme, ground] of [
        ["light", "rgb(244, 243, 240)"],
        ["dark", "rgb(27, 26, 24)"],
      ] as const) {
        await page.emulateMedia({ colorScheme });
        // Wait until Swagger UI has faded to the new colours.
        await page.evaluate(
          "new Promise(requestAnimationFrame).then(() => Promise.allSettled(document.getAnimations().map((one) => one.finished)))",
        );
        expect(await page.evaluate("getComputedStyle(document.documentElement).backgroundColor")).toBe(
          ground,
        );
        expect(await violationsIn(page, { rules }), colorScheme).toEqual([]);
      }
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(size.width);
      await page.getByRole("link", { name: "Kibitz", exact: true }).click();
      await page.getByRole("grid", { name: "Board" }).waitFor();
      expect(page.url()).toBe(`${kibitz.url}/`);
    },
  );

  test("if the page is not built yet, an address with a fragment shows the page as soon as it is built", async () => {
    const { base } = await startListener([createWebPage(pathToFileURL(`${folder}/`))]);
    const page = await kibitz.open({
      base: `${base}/`,
      address: "#moves=e4_e5",
      ownTab: true,
      provoked: /404|favicon/,
    });
    await page.getByText("its page is being built").waitFor();
    // The server looks for index.html.
    for (const part of ["assets", "index.html.br", "index.html.gz", "index.html"]) {
      cpSync(join(built, part), join(folder, part), { recursive: true });
    }
    await page.getByRole("gridcell", { name: "e5, Black pawn" }).waitFor();
    expect(page.url()).toContain("#moves=e4_e5");
  });

  test("the page is served no matter which host name the Host header contains", async () => {
    for (const host of ["kibitz.example", "[::1]:1", "a_b:80", "xn--bcher-kva.example"]) {
      const answer = await new Promise<string>((resolve, reject) => {
        request(kibitz.url, { headers: { host, accept: "text/html" } }, (got) => {
          got.resume();
          resolve(`${got.statusCode} ${got.headers["content-type"]}`);
        })
          .on("error", reject)
          .end();
      });
      expect(answer).toBe("200 text/html; charset=utf-8");
    }
  });

  test("the page cannot turn text into HTML, and cannot reach another server", async () => {
    const page = await kibitz.open({ provoked: /TrustedHTML|kibitz\.example/ });
    const outcome = await page.evaluate<Record<string, string>>(`(async () => {
      const broken = [];
      document.addEventListener("securitypolicyviolation", ({ effectiveDirective }) => broken.push(effectiveDirective));
      
      let sink = "open";
      try { document.body.insertAdjacentHTML("beforeend", "<b>"); } catch { sink = "closed"; }
      const elsewhere = await fetch("https://kibitz.example/").then(() => "open", () => "closed");
      // The browser reports violations with a delay.
      let looks = 0;
      do {
        await new Promise((resolve) => setTimeout(resolve, 100));
      } while (broken.length < 2 && looks++ < 200);
      return { sink, elsewhere, broken: broken.toSorted().join(" ") };
    })()`);
    expect(outcome).toEqual({
      sink: "closed",
      elsewhere: "closed",
      broken: "connect-src require-trusted-types-for",
    });
  });
});

function noteAsked(asked: string[]) {
  return (page: Page) => {
    page.on("request", (request) => asked.push(request.url()));
  };
}
