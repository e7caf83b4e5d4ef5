import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { describeWith } from "../support/needs.ts";
import { rateOf, usePlansFile } from "../support/plans-file.ts";
import { usePage, useServiceInProcess } from "./support/open-page.ts";

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

  async function review(depth: number, pgn: string): Promise<Page> {
    const page = await kibitz.open({ address: "#review" });
    await page.getByLabel("Depth").fill(String(depth));
    await page.getByLabel("A game in PGN").fill(pgn);
    await page.getByRole("button", { name: "Review the game" }).click();
    return page;
  }
  const isDone = (page: Page) => page.getByRole("button", { name: "Download the PGN" }).waitFor();

  // First, because a used-up window is refused before a game is read.
  test("the review says that a game is longer than the plan allows", async () => {
    const page = await review(4, "1. e4 e5 2. Nf3 Nc6 3. Bc4 Bc5 4. c3 *");
    await page.getByRole("heading", { name: /game of more than 3 moves/ }).waitFor();
    await page.getByRole("button", { name: "Review the first 3 moves" }).waitFor();
  });

  test("the review asks for as much as the plan allows, at a click, and says to wait when that is used up", async () => {
    const page = await review(20, "1. e4 e5 2. Nf3 *");
    await page.getByRole("heading", { name: /epth above 14/ }).waitFor();
    await page.getByRole("button", { name: "Analyse to depth 14" }).click();
    await isDone(page);

    for (const pgn of ["1. d4 *", "1. c4 *"]) {
      const { status } = await fetch(`${kibitz.url}/v1/review`, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ pgn, depth: 4 }),
      });
      expect(status).toBe(200);
    }
    const refused = await review(4, "1. f4 *");
    await refused.getByRole("heading", { name: /^Too (fast|many requests)/ }).waitFor();
    await refused.getByText(/^Goes on in \d+ (s|min)/).waitFor();
  });
});
