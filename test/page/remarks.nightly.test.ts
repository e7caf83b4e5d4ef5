import axe from "axe-core";
import { expect, test } from "vitest";
import { describeWith } from "../support/needs.ts";
import { analysisOf, clickAt, copied, drag, withClipboard } from "./support/analysis-page.ts";
import { usePage } from "./support/open-page.ts";
import { violationsIn } from "./support/test-accessibility.ts";

describeWith("chromium")("remarks on a position", () => {
  const kibitz = usePage();
  const open = async () => {
    const page = await kibitz.open({ address: "#moves=e4&nodes=1", ...withClipboard });
    const analysis = analysisOf(page);
    await page.locator("cg-board piece").first().waitFor();
    await analysis.engine.uncheck();
    await page.getByRole("button", { name: "e4" }).focus();
    const drawings = page.locator(".cg-shapes :is(line, circle)");
    return { page, ...analysis, drawings };
  };
  const summary = "Comment, glyphs and arrows";

  test("drawn arrows and circles stay with their move, also after a click on the board and a reload, and are exported", async () => {
    const { page, square, moves, drawings } = await open();
    const drawn = drawings.and(page.locator("[stroke='#15781B']"));
    await expect.poll(() => drawn.count()).toBe(0);
    await drag(page, square("g8"), square("f6"), "right");
    await clickAt(page, square("e5"), "right");
    await expect.poll(() => drawn.count()).toBe(2);
    await clickAt(page, square("d4"));
    await clickAt(page, square("e7"));
    await clickAt(page, square("e5"));
    await moves.filter({ hasText: "e5" }).waitFor();
    await expect.poll(() => drawn.count()).toBe(0);
    await page.keyboard.press("ArrowLeft");
    await expect.poll(() => drawn.count()).toBe(2);
    expect(await copied(page, "Copy PGN")).toBe("1. e4 { [%csl Ge5] [%cal Gg8f6] } e5 *\n");
    await page.reload();
    await expect.poll(() => drawn.count()).toBe(2);
    await page.getByText(summary).click();
    await page.getByRole("button", { name: "Erase the arrows and circles" }).click();
    await expect.poll(() => drawn.count()).toBe(0);
    await page.getByRole("button", { name: "Undo" }).click();
    await expect.poll(() => drawn.count()).toBe(2);
    await drag(page, square("g8"), square("f6"), "right");
    await expect.poll(() => drawn.count()).toBe(1);
  });

  test("the keyboard draws and erases an arrow with Shift and Enter on two squares", async () => {
    const { page, square, heard } = await open();
    await square("d7").focus();
    await page.keyboard.press("Shift+Enter");
    await heard.filter({ hasText: "Drawing from d7." }).waitFor();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Shift+Enter");
    await heard.filter({ hasText: "Arrow from d7 to d5 drawn." }).waitFor();
    expect(await copied(page, "Copy PGN")).toBe("1. e4 { [%cal Gd7d5] } *\n");
  });

  test("a finger draws a circle and an arrow after a tap on the switch, and moves a piece without it", async () => {
    const page = await kibitz.open({
      address: "#moves=e4&nodes=1",
      size: { width: 360, height: 740 },
      context: { hasTouch: true, isMobile: true },
      ownTab: true,
    });
    const { square, moves } = analysisOf(page);
    const drawn = page.locator(".cg-shapes [stroke='#15781B']");
    await page.locator("cg-board piece").first().waitFor();
    const draw = page.getByRole("button", { name: "Draw arrows and circles" });
    await draw.tap();
    expect(await draw.getAttribute("aria-pressed")).toBe("true");
    const session = await page.context().newCDPSession(page);
    const touch = async (type: "touchStart" | "touchMove" | "touchEnd", at?: string) => {
      const box = at === undefined ? null : await square(at).boundingBox();
      const touchPoints = box === null ? [] : [{ x: box.x + box.width / 2, y: box.y + box.height / 2 }];
      await session.send("Input.dispatchTouchEvent", { type, touchPoints });
      // Chessground reads the pointer position once per frame.
      await page.evaluate("new Promise(requestAnimationFrame)");
    };
    await touch("touchStart", "d5");
    await touch("touchEnd");
    await expect.poll(() => drawn.count()).toBe(1);
    await touch("touchStart", "g8");
    await touch("touchMove", "f6");
    await touch("touchEnd");
    await expect.poll(() => drawn.count()).toBe(2);
    expect(await moves.count()).toBe(1);
    await draw.tap();
    await touch("touchStart", "g8");
    await touch("touchMove", "f6");
    await touch("touchEnd");
    await moves.filter({ hasText: "Nf6" }).waitFor();
  });

  test("a comment and glyphs can be written, are shown and exported, and one Undo removes the comment", async () => {
    const { page, moves } = await open();
    await page.getByText(summary).click();
    const comment = page.getByRole("textbox", { name: "Comment on 1. e4" });
    await comment.fill("Best by test.");
    await comment.pressSequentially(" He said");
    await page.getByRole("button", { name: "Good move" }).click();
    await page.getByRole("button", { name: "White is slightly better" }).click();
    await page.getByRole("button", { name: "Interesting move" }).click();
    expect(await moves.allTextContents()).toEqual(["e4!?+="]);
    await page.getByRole("list", { name: "Moves" }).getByText("Best by test. He said").waitFor();
    expect(await copied(page, "Copy PGN")).toBe("1. e4 $5 $14 { Best by test. He said } *\n");
    await page.evaluate(axe.source);
    expect(await violationsIn(page, {})).toEqual([]);
    for (const left of ["e4!+=", "e4!", "e4", "e4"]) {
      await page.getByRole("button", { name: "Undo" }).click();
      await expect.poll(() => moves.allTextContents()).toEqual([left]);
    }
    expect(await comment.inputValue()).toBe("");
  });
});
