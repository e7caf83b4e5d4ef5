import { expect, test } from "vitest";
import { describeWith } from "../support/needs.ts";
import { usePage } from "./support/open-page.ts";
import { reviewScene } from "./support/scenes.ts";

interface Player {
  readonly accuracy: number;
  readonly phases: Readonly<
    Record<"opening" | "middlegame" | "endgame", { readonly accuracy: number } | null>
  >;
  readonly inaccuracies: number;
  readonly mistakes: number;
  readonly blunders: number;
}

interface Answer {
  readonly players: { readonly white: Player; readonly black: Player };
  readonly moves: readonly {
    readonly ply: number;
    readonly judgement: string | null;
    readonly move: { readonly uci: string; readonly to: string };
    readonly best: { readonly move: { readonly uci: string } } | null;
  }[];
}

describeWith("chromium")("what the review of a game found", () => {
  const kibitz = usePage();
  const reviewed = async () => {
    const page = await kibitz.open({ address: reviewScene.address });
    const sent = page.waitForRequest((request) => request.url().endsWith("/ReviewGame"));
    await reviewScene.reach(page);
    const pgn = await page.getByLabel("A game in PGN").inputValue();
    await sent;
    const asked = await fetch(`${kibitz.url}/v1/review`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ pgn, depth: 8 }),
    });
    return { page, answer: (await asked.json()) as Answer };
  };

  test("is told by colour and phase, as the API says it", async () => {
    const { page, answer } = await reviewed();
    const table = page.getByRole("table", { name: "How well they played" });
    const { white, black } = answer.players;
    const cells = async (name: string) =>
      (
        await table
          .getByRole("row", { name: new RegExp(`^${name}`) })
          .getByRole("cell")
          .allTextContents()
      ).join();
    const accuracies = (of: (player: Player) => number | undefined) =>
      [white, black].map((player) => `${of(player)?.toFixed(1)}%`).join();
    expect(await cells("Accuracy")).toBe(accuracies(({ accuracy }) => accuracy));
    expect(await cells("in the opening \\(mean\\)")).toBe(
      accuracies(({ phases }) => phases.opening?.accuracy),
    );
    expect(await cells("in the middlegame \\(mean\\)")).toBe(
      accuracies(({ phases }) => phases.middlegame?.accuracy),
    );
    for (const [row, field] of [
      ["Inaccuracies", "inaccuracies"],
      ["Mistakes", "mistakes"],
      ["Blunders", "blunders"],
    ] as const) {
      expect(await cells(row)).toBe(`${white[field]},${black[field]}`);
    }
  });

  test("stands on the board: the sign of a judgement where the move went, and what was better as an arrow", async () => {
    const { page, answer } = await reviewed();
    const judged = answer.moves.filter(({ judgement }) => judgement !== null);
    expect(judged.length).toBeGreaterThan(0);
    await page.getByRole("slider", { name: "White’s chances" }).press("Home");
    for (const { move, judgement } of judged) {
      await page.getByRole("button", { name: "To the next judged move" }).click();
      const sign = page.locator(".review-glyph-sign");
      const signs: Readonly<Record<string, string>> = { inaccuracy: "?!", mistake: "?", blunder: "??" };
      await expect.poll(() => sign.textContent()).toBe(signs[judgement ?? ""]);
      const [at, square] = await Promise.all([
        page.locator(".review-glyph-ground").boundingBox(),
        page.locator(`[data-square="${move.to}"]`).boundingBox(),
      ]);
      expect(Math.abs((at?.x ?? 0) - (square?.x ?? 0)), move.to).toBeLessThan(square?.width ?? 0);
      expect(Math.abs((at?.y ?? 0) - (square?.y ?? 0)), move.to).toBeLessThan(square?.height ?? 0);
      expect(await page.locator(".board-arrow-best").count()).toBe(1);
    }
  });
});
