import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { describeWith } from "../support/needs.ts";
import { hasFocus, paste, settle, withClipboard } from "./support/analysis-page.ts";
import { type OpenOptions, type UsedPage, usePage, useServiceInProcess } from "./support/open-page.ts";

const call = (page: Page) => page.getByRole("complementary", { name: "API call" });
const depth = (page: Page) => page.getByRole("spinbutton", { name: "Depth" });
const analyse = (page: Page) => page.getByRole("button", { name: "Analyse", exact: true });

/** Opens the page with automatic analysis off and the API panel open. */
async function open(kibitz: UsedPage, options: OpenOptions = {}): Promise<Page> {
  const page = await kibitz.open(options);
  await page.getByRole("switch", { name: "Analyse automatically" }).uncheck();
  await call(page).getByRole("heading", { name: "API call" }).click();
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

  test("the shown curl command can be copied and runs in a shell", async () => {
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

  test("the shown call is available in five languages, and arrow keys select the language", async () => {
    const page = await open(kibitz);
    await ask(page, 2);
    const languages = call(page).getByRole("group", { name: "Languages" });
    await languages.getByRole("radio", { name: "curl", exact: true }).focus();
    for (const name of ["TypeScript", "Python", "Go", "grpcurl"]) {
      await page.keyboard.press("ArrowRight");
      await call(page)
        .getByRole("region", { name: `The call in ${name}` })
        .waitFor();
    }
    await call(page).getByText("chess.analysis.v1.AnalysisService/StreamEvaluate").waitFor();
  });

  test("the response to the call is shown as JSON with the field names of the API", async () => {
    const page = await open(kibitz);
    await ask(page, 2);
    await answered(page);
    const answer = call(page).getByRole("region", { name: "Answer" }).last();
    await answer.getByText('"best_move":').waitFor();
    expect(JSON.parse((await answer.textContent()) ?? "")).toMatchObject({ evaluation: { turn: "white" } });
    await call(page)
      .getByText(/Request [0-9a-f-]{36}/)
      .waitFor();
  });

  test("the API panel is closed at first, and stays open on later visits after the user opens it", async () => {
    const page = await kibitz.open();
    const key = page.getByLabel("Key", { exact: true });
    expect(await key.isVisible()).toBe(false);
    await call(page).getByRole("heading", { name: "API call" }).click();
    await key.waitFor();
    await page.reload();
    await key.waitFor();
  });

  test("the page shows the user's remaining requests and engine time", async () => {
    const page = await open(kibitz);
    await ask(page, 2);
    await answered(page);
    const limits = call(page).getByRole("region", { name: "Limits" }).getByRole("listitem");
    await limits.getByText(/^[1-5]\d of 60 requests left this minute$/).waitFor();
    // A user without a key has engine time for an hour and for a day.
    await limits.getByText(/ of engine time left this hour$/).waitFor();
    expect(await limits.count()).toBe(3);
  });

  test("a depth above the plan's maximum is marked, and an error shows the maximum", async () => {
    const page = await open(kibitz);
    await page.getByText("max. 20").waitFor();
    await ask(page, 25);
    expect(await depth(page).evaluate((field) => field.matches(":invalid"))).toBe(true);
    await page.getByRole("region", { name: "A free key is needed for depth above 20" }).waitFor();
  });

  test("an impossible depth is refused with the maximum of the plan, and codes and request ids are behind Details", async () => {
    const page = await open(kibitz);
    await page.getByText("max. 20").waitFor();
    await ask(page, 99);
    const problem = page.getByRole("region", { name: "Out of range" });
    await problem.getByText("Depth must be from 1 to 20.", { exact: true }).waitFor();
    expect(await problem.getByText("Request", { exact: false }).isVisible()).toBe(false);
  });

  test("no engine is listed twice, also if a link names the latest engine", async () => {
    const page = await kibitz.open();
    const engine = page.getByRole("combobox", { name: "Engine" });
    await engine.getByRole("option", { name: /\(latest\)/ }).waitFor({ state: "attached" });
    const names = async () =>
      (await engine.getByRole("option").allTextContents()).map((name) => name.replace(" (latest)", ""));
    expect(new Set(await names()).size).toBe((await names()).length);
    const { latest } = (await (await fetch(`${kibitz.url}/engines`)).json()) as { readonly latest: string };
    await page.goto("about:blank");
    await page.goto(`${kibitz.url}/#analysis&engine=${latest}`);
    await expect.poll(() => engine.inputValue()).toBe(latest);
    await expect.poll(async () => (await names()).length).toBeGreaterThan(0);
    expect(new Set(await names()).size).toBe((await names()).length);
  });

  test("the page loads the engines and limits again if the first attempt fails", async () => {
    const offers = /AnalysisService\/(ListEngines|GetPrice)/;
    const page = await open(kibitz, {
      prepare: async (page) => void (await page.route(offers, (route) => route.abort())),
    });
    await page.getByText("has not said which engines and limits it has").waitFor();
    await page.unroute(offers);
    await ask(page, 2);
    await page.getByText("max. 20").waitFor();
  });

  test("the page sends engine options with the types in the engine's schema", async () => {
    const page = await open(kibitz);
    await page.getByText("More settings").click();
    await page.getByRole("spinbutton", { name: /Skill level/ }).fill("5");
    await page.getByRole("checkbox", { name: /Limit strength/ }).waitFor();
    await ask(page, 2);
    await call(page)
      .getByRole("region", { name: "The call in curl" })
      .getByText(/"options": \{\s*"skill_level": 5\s*\}/)
      .waitFor();
  });

  test("a link with engine options is searched only after the list of options is loaded", async () => {
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
    await page.getByText("Depth 2", { exact: true }).waitFor();
    expect(searches).toEqual([expect.stringContaining('"skill_level":5')]);
  });

  test("a button repeats a refused request with the values that the service suggests", async () => {
    const page = await kibitz.open({ address: "#moves=e4&depth=21&multipv=6" });
    const problem = page.getByRole("region", {
      name: "A free key is needed for depth above 20 and more than 5 lines",
    });
    await problem.getByText("Details", { exact: true }).click();
    await problem.getByRole("link", { name: "About upgrade_needed" }).waitFor();
    const searches: string[] = [];
    page.on("request", (request) => {
      if (request.url().endsWith("StreamEvaluate")) {
        searches.push(request.url());
      }
    });
    const sent = page.waitForRequest((request) => request.url().endsWith("StreamEvaluate"));
    await problem.getByRole("button", { name: "Analyse to depth 20 with 5 lines" }).click();
    // The message begins with five bytes that are not JSON.
    expect((await sent).postData()).toContain('"depth":20,"multipv":5');
    await problem.waitFor({ state: "detached" });
    expect(await hasFocus(page)).toBe(true);
    expect(await depth(page).inputValue()).toBe("20");
    await settle(page);
    expect(searches).toHaveLength(1);
    await page.getByRole("button", { name: "Stop", exact: true }).click();
    await call(page).getByRole("heading", { name: "API call" }).click();
    await call(page).getByText("stopped", { exact: true }).waitFor();
  });

  test("a button creates a free key and repeats the request with the key, and the key is shown only once", async () => {
    const page = await open(kibitz, withClipboard);
    await page.getByText("max. 20").waitFor();
    await page.getByRole("spinbutton", { name: "Lines" }).fill("6");
    await ask(page, 2);
    const problem = page.getByRole("region", { name: "A free key is needed for more than 5 lines" });
    await problem.getByRole("button", { name: "Get a free key" }).click();
    await answered(page);
    await page.getByText("Free plan").waitFor();
    expect(await hasFocus(page)).toBe(true);
    await call(page)
      .getByText(/^2[0-3]\d of 240 requests left this minute$/)
      .waitFor();
    const key = String(await page.evaluate('sessionStorage.getItem("kibitz-key")'));
    const created = page.getByRole("main").getByRole("region", { name: "API key" });
    await created.getByText(key).waitFor();
    await created.getByText("gone when this tab is closed").waitFor();
    await created.getByRole("button", { name: "Done" }).click();
    expect(key).toMatch(/^kbz_/);
    expect(await placesOf(page, key)).toEqual([]);
    await call(page).getByRole("button", { name: "Copy curl" }).click();
    await call(page).getByText("Copied").waitFor();
    const copied = await page.evaluate("navigator.clipboard.readText()");
    const { stdout: printed } = await promisify(execFile)("sh", ["-c", String(copied)]);
    expect(copied).toContain(`export KIBITZ_API_KEY=${key}\n`);
    expect(printed).toContain("event: done");

    await page.reload();
    await page.getByText("Free plan").waitFor();
    expect(await placesOf(page, key)).toEqual([]);
    await page.getByRole("button", { name: "Forget" }).click();
    await page.getByText("Calls are made without a key.").waitFor();
    expect(await hasFocus(page)).toBe(true);
    expect(await page.evaluate('sessionStorage.getItem("kibitz-key")')).toBeNull();
  });

  test("a key that is pasted outside the key field is sent only after the user confirms the key", async () => {
    const page = await kibitz.open(withClipboard);
    const sent: string[] = [];
    page.on("request", (request) => sent.push(request.postData() ?? "", JSON.stringify(request.headers())));
    await paste(page, "kbz_0123456789abcdef");
    const question = page.getByRole("main").getByRole("region", { name: "API key" });
    await question.getByText("You pasted an API key.").waitFor();
    expect(sent.join()).not.toContain("kbz_");
    const asked = page.waitForRequest(/GetKey/);
    await page.keyboard.press("Enter");
    expect((await asked).headers().authorization).toBe("Bearer kbz_0123456789abcdef");
    await question.waitFor({ state: "detached" });
  });

  test("the key field rejects a text that is not a key, and an invalid key can be corrected", async () => {
    const page = await open(kibitz);
    const field = page.getByLabel("Key", { exact: true });
    await field.fill("two words");
    await page.getByRole("button", { name: "Use this key" }).click();
    await page.getByText("That is not a key: keys begin with kbz_").waitFor();
    await field.fill("kbz_wrong");
    await field.press("Enter");
    await page.getByRole("button", { name: "Forget" }).waitFor();
    expect(await hasFocus(page)).toBe(true);
    const problem = call(page).getByRole("region", { name: "Invalid API key" });
    await problem.getByRole("button", { name: "Correct the key" }).click();
    await expect.poll(() => field.evaluate((one) => one === one.ownerDocument.activeElement)).toBe(true);
  });

  test("a request to an unreachable service shows an error, and is repeated when the network returns", async () => {
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

  test("if the service requires a key, the error has a button that opens the key field", async () => {
    const page = await kibitz.open({ address: "#moves=e4&depth=2" });
    const problem = page.getByRole("region", { name: "A key is needed" });
    await problem.getByRole("button", { name: "Enter a key" }).click();
    const field = page.getByLabel("Key", { exact: true });
    expect(await field.evaluate((one) => one === one.ownerDocument.activeElement)).toBe(true);
  });
});

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
