import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { describeWith } from "../support/needs.ts";
import { analysisOf, clickAt, drag, settle, withClipboard } from "./support/analysis-page.ts";
import { usePage } from "./support/open-page.ts";

describeWith("chromium")("the keys of the page", () => {
  const kibitz = usePage();
  const open = async (address: string) => {
    const page = await kibitz.open({ address, ...withClipboard });
    await page.locator("cg-board piece").first().waitFor();
    return { page, ...analysisOf(page), current: page.locator(".move[aria-current]") };
  };
  const focused = (page: Page) =>
    page.evaluate<string>("document.activeElement.dataset.square ?? document.activeElement.className");

  test("after Enter in a field, the board has the keys", async () => {
    const { page, fen, move, square, current } = await open("#moves=e4_e5_Nf3&depth=3");
    const depth = page.getByRole("spinbutton", { name: "Depth" });
    await depth.fill("4");
    await depth.press("Enter");
    await expect.poll(() => focused(page)).toBe("board-cursor");
    await page.keyboard.press("ArrowLeft");
    await expect.poll(() => current.textContent()).toBe("e5");
    await page.keyboard.press("ArrowUp");
    expect(await depth.inputValue()).toBe("4");
    await move.fill("Nc3");
    await move.press("Enter");
    await expect.poll(() => focused(page)).toBe("board-cursor");
    await page.keyboard.press("ArrowLeft");
    await expect.poll(() => current.textContent()).toBe("e5");
    await fen.fill("8/8/8/4k3/8/8/4P3/4K3 w - - 0 1");
    await fen.press("Enter");
    await expect.poll(() => focused(page)).toBe("board-cursor");
    await drag(page, square("e2"), square("e4"));
    await page.getByRole("gridcell", { name: "e4, White pawn" }).waitFor();
    await page.keyboard.press("f");
    await page.locator(".orientation-black").waitFor();
    await page.keyboard.press("ArrowLeft");
    await page.getByRole("gridcell", { name: "e2, White pawn" }).waitFor();
    expect(await fen.inputValue()).toBe("8/8/8/4k3/8/8/4P3/4K3 w - - 0 1");
  });

  test("an illegal move and an invalid FEN keep the keys in their field", async () => {
    const { page, fen, move } = await open("#moves=e4&depth=3");
    for (const field of [move, fen]) {
      await field.fill("Ke5");
      await field.press("Enter");
      await expect.poll(() => field.getAttribute("aria-invalid")).toBe("true");
      await settle(page);
      expect(await field.evaluate((element) => element === element.ownerDocument.activeElement)).toBe(true);
    }
  });

  test("a click on the board takes the keys from a field", async () => {
    const { page, fen, square, current } = await open("#moves=e4_e5&depth=3");
    await fen.click();
    await clickAt(page, square("g1"));
    await page.keyboard.press("ArrowLeft");
    await expect.poll(() => current.textContent()).toBe("e4");
    expect(await fen.inputValue()).toContain("4P3");
  });

  test("Space plays the best move after a click on a button, and presses a button that was reached with Tab", async () => {
    const { page, engine, lines, moves } = await open("#moves=e4_e5&depth=3");
    await lines.first().waitFor();
    const flip = page.getByRole("button", { name: "Flip board" });
    await flip.click();
    await page.locator(".orientation-black").waitFor();
    await page.keyboard.press("Space");
    await expect.poll(() => moves.count()).toBe(3);
    expect(await page.locator(".orientation-black").count()).toBe(1);
    await lines.first().waitFor();
    await engine.uncheck();
    await page.keyboard.press("Space");
    await expect.poll(() => moves.count()).toBe(4);
    expect(await engine.isChecked()).toBe(false);

    await page.getByRole("button", { name: "Last position" }).focus();
    await page.keyboard.press("Tab");
    await page.keyboard.press("Space");
    await page.locator(".orientation-white").waitFor();
    expect(await moves.count()).toBe(4);
  });

  test("the up and down keys choose a variation, and on a square of the board another square", async () => {
    const { page, engine, square, current, moves } = await open(
      "#analysis&pgn=1._e4_e5_(1..._c5)_(1..._e6)_2._Nf3_*&ply=1",
    );
    await engine.uncheck();
    await clickAt(page, square("a5"));
    await page.keyboard.press("ArrowDown");
    await expect.poll(() => current.textContent()).toBe("1… c5");
    await page.keyboard.press("ArrowDown");
    await expect.poll(() => current.textContent()).toBe("1… e6");
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("ArrowUp");
    await expect.poll(() => current.textContent()).toBe("e5");
    await moves.filter({ hasText: "e5" }).focus();
    await page.keyboard.press("ArrowDown");
    await expect.poll(() => current.textContent()).toBe("1… c5");
    await square("e2").focus();
    await page.keyboard.press("ArrowUp");
    expect(await focused(page)).toBe("e3");
    expect(await current.textContent()).toBe("1… c5");
  });

  test("Redo restores what Undo removed, by button and by key", async () => {
    const { page, engine, square, moves } = await open("#moves=e4");
    await engine.uncheck();
    await drag(page, square("e7"), square("e5"));
    await expect.poll(() => moves.count()).toBe(2);
    await page.keyboard.press("Control+Z");
    await expect.poll(() => moves.count()).toBe(1);
    await page.keyboard.press("Control+Y");
    await expect.poll(() => moves.count()).toBe(2);
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByRole("button", { name: "Redo" }).click();
    await expect.poll(() => moves.allTextContents()).toEqual(["e4", "e5"]);
    await page.keyboard.press("Control+Z");
    await page.keyboard.press("Control+Shift+Z");
    await expect.poll(() => moves.count()).toBe(2);
    expect(await page.getByRole("button", { name: "Redo" }).count()).toBe(0);
  });

  test("flipping the board and the list of keys leave the focus on its square", async () => {
    const { page, square } = await open("#analysis&depth=3");
    await square("b4").focus();
    await page.keyboard.press("f");
    await page.locator(".orientation-black").waitFor();
    expect(await focused(page)).toBe("b4");
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keys" }).waitFor();
    await page.keyboard.press("Escape");
    expect(await focused(page)).toBe("b4");
  });

  test("the list of keys names the keys of the page and of the board, and M goes to the move field", async () => {
    const { page, move } = await open("#analysis&depth=3");
    await page.keyboard.press("?");
    const help = page.getByRole("dialog", { name: "Keys" });
    expect(await help.locator("kbd").allTextContents()).toEqual([
      ...[
        "← →",
        "Home End",
        "↑ ↓",
        "Space",
        "M",
        "F",
        "Ctrl + Z",
        "Ctrl + Y",
        "Ctrl + V",
        "Right button",
        "Enter",
        "?",
      ],
      ...["Tab", "← → ↑ ↓", "Home End", "Enter", "Esc", "Shift + Enter"],
    ]);
    await page.keyboard.press("Escape");
    await page.keyboard.press("m");
    await page.keyboard.type("e4");
    expect(await move.inputValue()).toBe("e4");
  });
});
