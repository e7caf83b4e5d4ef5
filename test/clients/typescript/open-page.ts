import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { findChromium } from "../../support/find-browser.ts";

/**
 * Opens the page of the example in Chromium and prints the text of the page. The page has another origin than the service, so
 * the browser checks the CORS headers.
 * Usage: `open-page.ts <folder of the page> <address of the service>`
 */
const [folder = "", service = ""] = process.argv.slice(2);
const settings = new URLSearchParams({
  service,
  ...(process.env.KIBITZ_API_KEY && { key: process.env.KIBITZ_API_KEY }),
});

const types = { "/index.html": "text/html", "/dist/main.js": "text/javascript" };
const server = createServer(async ({ url = "" }, response) => {
  const type = types[url as keyof typeof types];
  if (type === undefined) {
    response.writeHead(404).end();
  } else {
    response.setHeader("Content-Type", type);
    response.end(await readFile(join(folder, url)));
  }
}).listen(0, "127.0.0.1");
await once(server, "listening");
const { port } = server.address() as AddressInfo;

const browser = await chromium.launch({
  executablePath: findChromium() ?? "chromium",
  args: [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
  ],
});
try {
  const page = await browser.newPage();
  page.on("pageerror", (error) => console.error(error));
  // Print each line as soon as it appears on the page.
  let printed = "";
  let printing = Promise.resolve();
  const print = () => {
    printing = printing.then(async () => {
      const text = (await page.textContent("#out")) ?? "";
      process.stdout.write(text.slice(printed.length));
      printed = text;
    });
    return printing;
  };
  await page.exposeFunction("changed", print);
  await page.addInitScript(
    "addEventListener('DOMContentLoaded', () => new MutationObserver(changed).observe(document.body, { childList: true, subtree: true }))",
  );
  await page.goto(`http://127.0.0.1:${port}/index.html#${settings}`);
  await page.waitForFunction("['Done', 'Failed'].includes(document.title)", undefined, { timeout: 170_000 });
  await print();
  process.exitCode = (await page.title()) === "Done" ? 0 : 1;
} finally {
  await browser.close();
  server.close();
}
