import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { describeWith } from "../support/needs.ts";
import { hasFocus, paste, settle, withClipboard } from "./support/analysis-page.ts";
import { type OpenOptions, type UsedPage, usePage, useServiceInProcess } from "./support/open-page.ts";

/** The API, shown: the call that was made, what came of it, and the ways out of what goes wrong. */

const call = (page: Page) => page.getByRole("complementary", { name: "The call behind it" });
const depth = (page: Page) => page.getByRole("spinbutton", { name: "Depth" });
const analyse = (page: Page) => page.getByRole("button", { name: "Analyse", exact: true });

/** The page of somebody who asks by the button only. */
async function open(kibitz: UsedPage, options: OpenOptions = {}): Promise<Page> {
  const page = await kibitz.open(options);
  await page.getByRole("switch", { name: "Analyse automatically" }).uncheck();
  return page;
}

async function ask(page: Page, plies: number): Promise<void> {
  await depth(page).fill(String(plies));
  await analyse(page).click();
}

async function answered(page: Page): Promise<void> {
  await call(page).getByText("answered", { exact: true }).waitFor();
}

describeWith("chromium")("the call behind the page", () => {
  const kibitz = usePage(useServiceInProcess({ KIBITZ_ACCESS: "public" }));

  test("the call behind the page is copied as curl, and runs in a shell", async () => {
    const page = await open(kibitz, withClipboard);
    await ask(page, 3);
    await answered(page);
    await call(page).getByRole("button", { name: "Copy curl" }).click();
    await call(page).getByText("Copied").waitFor();
    const copied = await page.evaluate("navigator.clipboard.readText()");
    const { stdout: printed } = await promisify(execFile)("sh", ["-c", String(copied)]);
    expect(copied).toContain(`curl -N '${kibitz.url}/v1/eval/stream'`);
    expect(printed).toContain("event: done");
  });

  test("the call behind the page is shown in five languages, from one to the next by arrow keys", async () => {
    const page = await open(kibitz);
    await ask(page, 2);
    const tabs = call(page).getByRole("tablist", { name: "Languages" });
    await tabs.getByRole("tab", { name: "curl", exact: true }).press("ArrowRight");
    const shown: string[] = [];
    for (const name of ["TypeScript", "Python", "Go", "grpcurl", "curl"]) {
      await tabs.getByRole("tab", { name, exact: true, selected: true }).press("ArrowRight");
      shown.push(name);
    }
    await tabs.getByRole("tab", { name: "TypeScript", selected: true }).press("End");
    expect(await call(page).getByRole("tabpanel", { name: "grpcurl" }).textContent()).toContain(
      "chess.analysis.v1.AnalysisService/StreamEvaluate",
    );
    expect(shown).toHaveLength(5);
  });

  test("the answer to the call is shown as a tree that opens, with the names of plain JSON", async () => {
    const page = await open(kibitz);
    await ask(page, 2);
    await answered(page);
    const answer = call(page).getByRole("region", { name: "Answer" });
    expect(await answer.getByText("best_move").count()).toBe(0);
    await answer.getByRole("heading", { name: "Answer" }).click();
    await answer.getByText(/^evaluation: \d+ fields$/).click();
    await answer.getByText(/^best_move: \d+ fields$/).click();
    await answer.getByText(/^uci: "[a-h]\d[a-h]\d"$/).waitFor();
    // A caller's reply to the question which request it was.
    await call(page)
      .getByText(/Request [0-9a-f-]{36}/)
      .waitFor();
  });

  test("the page shows how many requests its user has left", async () => {
    const page = await open(kibitz);
    await ask(page, 2);
    await answered(page);
    const limits = call(page).getByRole("region", { name: "Limits" }).getByRole("listitem");
    await limits.getByText(/^[1-5]\d of 60 requests left this minute$/).waitFor();
    expect(await limits.count()).toBe(1);
  });

  test("the field of a depth beyond the plan is marked, and the service says what it allows", async () => {
    const page = await open(kibitz);
    await page.getByText("max. 20").waitFor();
    await ask(page, 25);
    expect(await depth(page).evaluate((field) => field.matches(":invalid"))).toBe(true);
    await page.getByRole("region", { name: "Depth above 20 needs a free key" }).waitFor();
  });

  test("the page asks again what the service offers if it could not read it at first", async () => {
    const offers = /AnalysisService\/(ListEngines|GetPrice)/;
    const page = await open(kibitz, {
      prepare: async (page) => void (await page.route(offers, (route) => route.abort())),
    });
    await page.getByText("has not said which engines and limits it has").waitFor();
    await page.unroute(offers);
    await ask(page, 2);
    await page.getByText("max. 20").waitFor();
  });

  test("the page sends the options of the engine as its schema has them", async () => {
    const page = await open(kibitz);
    await page.getByText("More settings").click();
    await page.getByRole("spinbutton", { name: /Playing strength by level/ }).fill("5");
    await page.getByRole("checkbox", { name: /strength of uci_elo/ }).waitFor();
    await ask(page, 2);
    await call(page)
      .getByText(/"options": \{\s+"skill_level": 5\s+\}/)
      .waitFor();
  });

  test("the search of a link with options waits until the service has said which options there are", async () => {
    const searches: string[] = [];
    const { promise: held, resolve: letGo } = Promise.withResolvers<void>();
    const page = await kibitz.open({
      address: "#moves=e4&depth=2&options.skill_level=5",
      prepare: async (page) => {
        await page.route(/ListEngines/, async (route) => {
          await held;
          await route.continue();
        });
        page.on("request", (request) => {
          if (request.url().endsWith("StreamEvaluate")) {
            searches.push(request.postData() ?? "");
          }
        });
      },
    });
    await settle(page);
    expect(searches).toEqual([]);
    expect(await analyse(page).isDisabled()).toBe(true);
    letGo();
    await answered(page);
    expect(searches).toEqual([expect.stringContaining('"skill_level":5')]);
  });

  test("a call that asks for too much is made again as the service suggests, by a button", async () => {
    const page = await open(kibitz);
    await page.getByText("max. 20").waitFor();
    await depth(page).fill("21");
    await page.getByRole("spinbutton", { name: "Lines" }).fill("6");
    await analyse(page).click();
    const problem = page.getByRole("region", {
      name: "Depth above 20 and more than 5 lines need a free key",
    });
    await problem.getByRole("link", { name: "About upgrade_needed" }).waitFor();
    const searches: string[] = [];
    page.on("request", (request) => {
      if (request.url().endsWith("StreamEvaluate")) {
        searches.push(request.url());
      }
    });
    await page.getByRole("switch", { name: "Analyse automatically" }).check();
    const sent = page.waitForRequest((request) => request.url().endsWith("StreamEvaluate"));
    await problem.getByRole("button", { name: "Analyse to depth 20 with 5 lines" }).click();
    // Behind the five bytes of its envelope.
    expect((await sent).postData()).toContain('"depth":20,"multipv":5');
    await problem.waitFor({ state: "detached" });
    expect(await hasFocus(page)).toBe(true);
    expect(await depth(page).inputValue()).toBe("20");
    await settle(page);
    expect(searches).toHaveLength(1);
    await page.getByRole("button", { name: "Stop", exact: true }).click();
    await call(page).getByText("stopped", { exact: true }).waitFor();
  });

  test("a button gets a key and makes the call again with it, and the key can be read nowhere on the page", async () => {
    const page = await open(kibitz);
    await page.getByText("max. 20").waitFor();
    await page.getByRole("spinbutton", { name: "Lines" }).fill("6");
    await ask(page, 2);
    const problem = page.getByRole("region", { name: "More than 5 lines needs a free key" });
    await problem.getByRole("button", { name: "Get a free key" }).click();
    await answered(page);
    await page.getByText("Free plan").waitFor();
    expect(await hasFocus(page)).toBe(true);
    await call(page)
      .getByText(/^2[0-3]\d of 240 requests left this minute$/)
      .waitFor();
    await call(page).getByText("$KIBITZ_API_KEY").waitFor();
    await call(page).getByRole("heading", { name: "Answer" }).click();
    const key = String(await page.evaluate('sessionStorage.getItem("kibitz-key")'));
    expect(key).toMatch(/^kbz_/);
    expect(await placesOf(page, key)).toEqual([]);

    await page.reload();
    await page.getByText("Free plan").waitFor();
    await page.getByRole("button", { name: "Forget it" }).click();
    await page.getByText("Calls are made without a key.").waitFor();
    expect(await hasFocus(page)).toBe(true);
    expect(await page.evaluate("sessionStorage.length")).toBe(0);
  });

  test("a key that is pasted beside its field is not sent, and the field is shown", async () => {
    const page = await open(kibitz, withClipboard);
    const sent: string[] = [];
    page.on("request", (request) => sent.push(request.postData() ?? ""));
    await paste(page, "kbz_0123456789abcdef");
    await page.getByText("That was a key: paste it here.").and(page.locator(".key p")).waitFor();
    const field = page.getByLabel("Key", { exact: true });
    expect(await field.evaluate((one) => one === one.ownerDocument.activeElement)).toBe(true);
    await page.getByRole("heading", { name: "Analysis" }).waitFor();
    expect(sent.join()).not.toContain("kbz_");
  });

  test("a text that is no key is not taken, and a wrong key can be corrected where it stands", async () => {
    const page = await open(kibitz);
    const field = page.getByLabel("Key", { exact: true });
    await field.fill("two words");
    await page.getByRole("button", { name: "Use this key" }).click();
    await page.getByText("This is no key").waitFor();
    await field.fill("kbz_wrong");
    await field.press("Enter");
    await page.getByRole("button", { name: "Forget it" }).waitFor();
    expect(await hasFocus(page)).toBe(true);
    const problem = call(page).getByRole("region", { name: "Invalid API key" });
    await problem.getByRole("button", { name: "Correct the key" }).click();
    await expect.poll(() => field.evaluate((one) => one === one.ownerDocument.activeElement)).toBe(true);
  });

  test("a call to a service that cannot be reached says so, and is made again when there is a network", async () => {
    const page = await open(kibitz, { ownTab: true });
    await page.getByText("max. 20").waitFor();
    await page.context().setOffline(true);
    await page.getByLabel("Key", { exact: true }).fill("kbz_wrong");
    await page.getByRole("button", { name: "Use this key" }).click();
    await call(page).getByRole("region", { name: "The service does not answer" }).waitFor();
    await page.context().setOffline(false);
    await call(page).getByRole("region", { name: "Invalid API key" }).waitFor();
  });
});

describeWith("chromium")("the call behind the page of a service that answers only with a key", () => {
  const kibitz = usePage(useServiceInProcess({ KIBITZ_ACCESS: "keys" }));

  test("the page of a service that answers only with a key says so, and shows where the key goes", async () => {
    const page = await open(kibitz);
    await page.getByText("This service answers only with a key.").waitFor();
    await ask(page, 2);
    const problem = page.getByRole("region", { name: "A key is needed" });
    await problem.getByRole("button", { name: "Enter a key" }).click();
    const field = page.getByLabel("Key", { exact: true });
    expect(await field.evaluate((one) => one === one.ownerDocument.activeElement)).toBe(true);
  });
});

/** Where a page has a text that it must not have. */
async function placesOf(page: Page, secret: string): Promise<readonly string[]> {
  const kept = `JSON.stringify({ ...localStorage }) + document.cookie + JSON.stringify(history.state)`;
  const places = {
    address: page.url(),
    document: await page.content(),
    text: await page.locator("body").innerText(),
    kept: String(await page.evaluate(kept)),
  };
  return Object.entries(places).flatMap(([place, text]) => (text.includes(secret) ? [place] : []));
}
