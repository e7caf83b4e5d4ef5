import type { Locator, Page } from "playwright-core";
import { expect, test } from "vitest";
import { describeWith } from "../support/needs.ts";
import { rateOf, usePlansFile } from "../support/plans-file.ts";
import { type UsedPage, usePage, useServiceInProcess } from "./support/open-page.ts";

const limits = {
  depth_max: 14,
  multipv_max: 3,
  movetime_ms_max: 10_000,
  concurrent: 2,
  review_plies_max: 6,
  rates: [rateOf("few", 3, 600)],
};

describeWith("chromium")("the review of a game, within a plan", () => {
  const kibitz = usePage(
    useServiceInProcess({
      KIBITZ_ACCESS: "public",
      KIBITZ_PLANS: usePlansFile({ id: "keyless", limits }),
    }),
  );

  const isDone = (page: Page) => page.getByRole("table", { name: "Accuracy and mistakes" }).waitFor();

  // This test must be the first, because the service checks the request rate before the game.
  test("a game that is too long for the plan is shown at once, and the page says which moves are reviewed", async () => {
    const page = await review(kibitz, 4, long);
    const problem = page.getByRole("region", { name: /free key|Upgrade needed/ });
    await problem.waitFor();
    expect(await isInWindow(problem)).toBe(true);
    const moves = page.getByRole("list", { name: "Moves" }).getByRole("button");
    expect(await moves.count()).toBe(7);
    await page.keyboard.press("End");
    await page.getByRole("grid", { name: "Position after 4. c3" }).waitFor();
    await page.getByRole("button", { name: "Review the first 3 moves" }).click();
    await isDone(page);
    await page.getByText("Moves 1–3 of 4 are reviewed.").waitFor();
    expect(await moves.count()).toBe(7);
  });

  test("a click reviews a game to the depth that the plan allows, and a rate-limited review shows a countdown", async () => {
    const page = await review(kibitz, 20, "1. e4 e5 2. Nf3 *");
    await page.getByRole("button", { name: "Analyse to depth 14" }).click();
    await isDone(page);

    for (let status = 0; status !== 429; ) {
      ({ status } = await fetch(`${kibitz.url}/v1/review`, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ pgn: "1. d4 *", depth: 4 }),
      }));
    }
    const refused = await review(kibitz, 4, "1. f4 *");
    const countdown = refused.getByText(/^Goes on in \d+ (s|min)/);
    await countdown.waitFor();
    expect(await isInWindow(countdown)).toBe(true);
    await refused.getByRole("grid", { name: "Start of the game" }).waitFor();
    await refused.getByRole("button", { name: "Get a free key" }).waitFor();

    // The page does not wait for the service to say that the game is too long.
    const tooLong = await review(kibitz, 4, long);
    await tooLong
      .getByRole("region", { name: "A free key is needed for a game of more than 3 moves" })
      .waitFor();
    await tooLong.getByRole("button", { name: "Review the first 3 moves" }).waitFor();
    expect(await tooLong.getByRole("timer").count()).toBe(0);
  });
});

describeWith("chromium")("the review of a game, within a request quota", () => {
  const quota = { rates: [rateOf("few", 2, 600)] };
  const plans = usePlansFile({ id: "keyless", limits: { ...limits, ...quota, review_plies_max: 120 } });
  const kibitz = usePage(useServiceInProcess({ KIBITZ_ACCESS: "public", KIBITZ_PLANS: plans }));
  const shuffle = Array.from({ length: 10 }, (_, at) => `${at + 1}. ${at % 2 ? "Ng1 Ng8" : "Nf3 Nf6"}`);

  test("a game that needs more requests than the quota has is refused at once, and a limit offers to review the part that is left", async () => {
    const page = await review(kibitz, 4, shuffle.join(" "));
    await page
      .getByRole("region", { name: "A free key is needed for a game of more than 9 moves" })
      .waitFor();
    await page.getByRole("button", { name: "Review the first 9 moves" }).waitFor();
    await fetch(`${kibitz.url}/v1/review`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ pgn: "1. d4 *", depth: 4 }),
    });
    await page.getByRole("button", { name: "Review the first 9 moves" }).click();
    await page.getByText(/^Goes on in \d+ (s|min)/).waitFor();
    await page
      .getByText("A review counts once for every ten positions, and only 1 is left.", { exact: true })
      .waitFor();
    await page.getByRole("button", { name: "Review the first 4 moves" }).click();
    await page.getByText("Moves 1–5 of 10 are reviewed.").waitFor();
  });
});

describeWith("chromium")("the review of a game, where calls need a key", () => {
  const kibitz = usePage(useServiceInProcess({ KIBITZ_ACCESS: "keys" }));

  test("the moves of a game are shown even if a review requires a key", async () => {
    const page = await review(kibitz, 4, long);
    await page.getByRole("button", { name: "Enter a key" }).waitFor();
    await page.keyboard.press("End");
    await page.getByRole("grid", { name: "Position after 4. c3" }).waitFor();
    expect(await page.getByRole("list", { name: "Moves" }).getByRole("button").count()).toBe(7);
  });
});

const long = "1. e4 e5 2. Nf3 Nc6 3. Bc4 Bc5 4. c3 *";

async function review(kibitz: UsedPage, depth: number, pgn: string): Promise<Page> {
  const page = await kibitz.open({ address: "#review" });
  await page.getByLabel("Depth").fill(String(depth));
  await page.getByLabel("A game in PGN").fill(pgn);
  await page.getByRole("button", { name: "Review the game" }).click();
  return page;
}

async function isInWindow(part: Locator): Promise<boolean> {
  const box = await part.boundingBox();
  const height = part.page().viewportSize()?.height ?? 0;
  return box !== null && box.y >= 0 && box.y + box.height <= height;
}
