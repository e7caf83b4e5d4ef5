import axe from "axe-core";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { describeWith } from "../support/needs.ts";
import { rateOf, usePlansFile } from "../support/plans-file.ts";
import { clickAt, copied, withClipboard } from "./support/analysis-page.ts";
import { usePage, useService } from "./support/open-page.ts";
import { violationsIn } from "./support/test-accessibility.ts";

describeWith("chromium")("learning from mistakes", () => {
  const kibitz = usePage();
  const plans = usePlansFile({ id: "keyless", limits: { rates: [rateOf("minute", 1, 60)] } });
  const limited = usePage(useService({ KIBITZ_ACCESS: "public", KIBITZ_PLANS: plans }));
  const address = "#review&pgn=1._f3_e5_2._g4_Qh4%23_0-1&depth=8";

  const practise = async (page: Page) => {
    const panel = page.getByRole("region", { name: "Learn from your mistakes" });
    await panel.getByRole("button", { name: /^White \(/ }).click();
    const question = panel.getByText("in the game, 2. g4 was a blunder.");
    while (!(await question.isVisible())) {
      await panel.getByRole("button", { name: "Skip" }).click();
    }
    const square = (name: string) => page.getByRole("grid").locator(`[data-square="${name}"]`);
    const play = async (from: string, to: string) => {
      await clickAt(page, square(from));
      await clickAt(page, square(to));
    };
    return { panel, square, play };
  };

  test("at each mistake, a better move is asked for and judged with one request, and the game stays as it is", async () => {
    const page = await kibitz.open({ address, ...withClipboard });
    const requests: string[] = [];
    page.on("request", (request) => {
      if (request.url().endsWith("/Evaluate")) {
        requests.push(request.postData() ?? "");
      }
    });
    const { panel, square, play } = await practise(page);
    await page.evaluate(axe.source);
    expect(await violationsIn(page, {})).toEqual([]);
    const again = async () => {
      await panel.getByRole("button", { name: "Try again" }).click();
      await panel.getByText("Find a better move on the board.").waitFor();
    };

    await play("g2", "g4");
    await panel.getByText("g4 is not good enough.").waitFor();
    expect(requests).toEqual([]);
    await again();
    await play("e1", "f2");
    await panel.getByText("Kf2 is not good enough.").waitFor();
    expect(requests).toHaveLength(1);
    expect(requests[0]).toContain('"depth":8');
    expect(await violationsIn(page, {})).toEqual([]);
    await again();
    await play("e1", "f2");
    await panel.getByText("Kf2 is not good enough.").waitFor();
    expect(requests).toHaveLength(1);
    await again();

    await square("e2").focus();
    for (const key of ["Enter", "ArrowUp", "ArrowUp", "Enter"]) {
      await page.keyboard.press(key);
    }
    await panel.getByText(/e4 is right/).waitFor();
    await panel.getByRole("button", { name: "Next" }).and(page.locator(":focus")).press("Enter");
    await panel.getByText(/^You found 1 of [12] better moves\.$/).waitFor();
    expect(await violationsIn(page, {})).toEqual([]);
    await panel.getByRole("button", { name: "End" }).press("Enter");
    expect(await copied(page, "Copy PGN")).not.toContain("Kf2");
  });

  test("the best move is shown on demand, and the question returns after a look at another move", async () => {
    const page = await kibitz.open({ address });
    const { panel } = await practise(page);
    await page.keyboard.press("Home");
    await panel.getByRole("button", { name: "Back to the question" }).click();
    await panel.getByRole("button", { name: "Show the best move" }).click();
    await panel.getByText(/The best move is \S+\.$/).waitFor();
    await panel.getByRole("button", { name: "Next" }).click();
    await panel.getByText(/^You found 0 of/).waitFor();
  });

  test("after a change of the reviewed moves, the comment on the move is shown instead of the question", async () => {
    const page = await kibitz.open({ address });
    const { panel } = await practise(page);
    await page.getByRole("list", { name: "Moves" }).getByRole("button", { name: /^e5/ }).click();
    await page.getByRole("button", { name: "Delete from here" }).click();
    await panel.waitFor({ state: "detached" });
    await page.getByRole("region", { name: "Comment on the move" }).waitFor();
    await page.getByRole("button", { name: "Undo" }).click();
    await panel.getByRole("button", { name: /^White \(/ }).waitFor();
  });

  test("a limit is said beside the question, and the attempt is judged later or cancelled", async () => {
    const page = await limited.open({ address });
    const { panel, play } = await practise(page);
    await play("e1", "f2");
    await panel.getByRole("timer").waitFor();
    await page.evaluate(axe.source);
    expect(await violationsIn(page, {})).toEqual([]);
    await panel.getByRole("button", { name: "Cancel" }).click();
    await panel.getByText("Find a better move on the board.").waitFor();
  });
});
