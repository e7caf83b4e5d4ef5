import { Chess } from "chessops/chess";
import { makeUci } from "chessops/util";
import { expect, test } from "vitest";
import { describeWith } from "../support/needs.ts";
import { rateOf, usePlansFile } from "../support/plans-file.ts";
import { startRelay } from "../support/relay.ts";
import { analysisOf, hasFocus, searchesOf, settle } from "./support/analysis-page.ts";
import { usePage, useServiceInProcess } from "./support/open-page.ts";

describeWith("chromium")("the connection", () => {
  const kibitz = usePage(
    // The service must queue the search even if the expected wait is long.
    useServiceInProcess({ KIBITZ_SLOTS: "1", KIBITZ_QUEUE_MAX_WAIT_MS: "600000" }),
  );
  const relayed = async () => {
    const relay = await startRelay(Number(new URL(kibitz.url).port));
    return {
      relay,
      base: `http://127.0.0.1:${relay.port}/`,
      [Symbol.asyncDispose]: () => relay[Symbol.asyncDispose](),
    };
  };

  test("the page reports a lost connection, keeps its lines, and continues the search after the connection returns", async () => {
    await using way = await relayed();
    const page = await kibitz.open({ base: way.base, address: "#moves=e4_c5_Nf3&depth=30" });
    const { lines, heard, stop } = analysisOf(page);
    await lines.first().waitFor();
    way.relay.isRefusing = true;
    way.relay.reset();
    await page.getByRole("region", { name: "The service does not answer" }).waitFor();
    await heard.filter({ hasText: "The service does not answer." }).waitFor();
    expect(await lines.count()).toBe(1);
    way.relay.isRefusing = false;
    await page.getByText(/^Depth \d+ …$/).waitFor();
    await stop.click();
  });

  test("the user can retry at once after a lost connection", async () => {
    await using way = await relayed();
    const page = await kibitz.open({ base: way.base });
    const { lines, start } = analysisOf(page);
    await page.getByRole("grid", { name: "Board" }).waitFor();
    way.relay.isRefusing = true;
    way.relay.reset();
    await start.click();
    await page.getByText(/Goes on in ([2-9]|1\d) s/).waitFor();
    way.relay.isRefusing = false;
    await page.getByRole("button", { name: "Try again" }).click();
    await lines.first().waitFor();
    expect(await hasFocus(page)).toBe(true);
  });

  test('while the service does not respond to a search, the page shows the state "Asking …", and the user can stop the search', async () => {
    await using way = await relayed();
    const page = await kibitz.open({ base: way.base });
    const { start, stop, lines } = analysisOf(page);
    await page.getByRole("grid", { name: "Board" }).waitFor();
    // The delay must not end before the search is stopped.
    way.relay.answerDelayMs = 30_000;
    await start.click();
    await page.getByText("Asking …", { exact: true }).and(page.locator(".search-state")).waitFor();
    await stop.click();
    await page.getByText("Stopped", { exact: true }).and(page.locator(".search-state")).waitFor();
    way.relay.answerDelayMs = 0;
    await start.click();
    await lines.first().waitFor();
  });

  test("if the service is busy, the page shows the queue position of the search", async () => {
    const controller = new AbortController();
    const other = fetch(`${kibitz.url}/v1/eval/stream`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ fen: "startpos", moves: ["d4"], movetime_ms: 60_000, depth: 30 }),
      signal: controller.signal,
    });
    // The first bytes of the response show that this search uses the only slot.
    await (await other).body?.getReader().read();
    const { lines, state } = analysisOf(await kibitz.open({ address: "#moves=c4&depth=2" }));
    await state.getByText(/^Next in the queue, about \d+ s$/).waitFor();
    controller.abort();
    await lines.first().waitFor();
  });

  test("if the service refuses a search, the page shows the error", async () => {
    const page = await kibitz.open({ address: "#moves=e4&engine=stockfish-0" });
    await page.getByRole("heading", { name: /engine/i, level: 3 }).waitFor();
    await page.getByText("Not analysed", { exact: true }).waitFor();
  });
});

describeWith("chromium")("a service that says to wait", () => {
  const limits = { rates: [rateOf("burst", 1, 8)] };
  const kibitz = usePage(
    useServiceInProcess({
      KIBITZ_ACCESS: "public",
      KIBITZ_PLANS: usePlansFile({ id: "keyless", limits }),
    }),
  );

  test("the page waits until the retry time that the service gives, and then searches the latest position", async () => {
    let searches: readonly string[] = [];
    const page = await kibitz.open({
      address: "#moves=e4&depth=2",
      prepare: (page) => {
        searches = searchesOf(page);
      },
    });
    const { lines, move } = analysisOf(page);
    await lines.first().waitFor();
    await move.fill("e5");
    await move.press("Enter");
    await page.getByRole("timer").waitFor();
    await page.getByRole("button", { name: "Get a free key" }).waitFor();
    await move.fill("Nf3");
    await move.press("Enter");
    await page.getByRole("gridcell", { name: "f3, White knight" }).waitFor();
    await settle(page);
    expect(await page.getByRole("timer").textContent()).toMatch(/^Goes on in \d+ s$/);
    expect(searches).toHaveLength(2);
    await lines.first().waitFor();
    await page
      .getByRole("toolbar", { name: /^Line 1/ })
      .getByText(/^2…/)
      .waitFor();
  });

  test("a new API key ends the wait that the service requested", async () => {
    const page = await kibitz.open({ address: "#moves=e4&depth=2" });
    const { lines, move } = analysisOf(page);
    await lines.first().or(page.getByRole("timer")).waitFor();
    await move.fill("e5");
    await move.press("Enter");
    await page.getByRole("timer").waitFor();
    await page.getByRole("heading", { name: "API call" }).click();
    await page.getByRole("main").getByRole("button", { name: "Get a free key" }).click();
    await page.getByText("Free plan").waitFor();
    await page.getByText("Depth 2", { exact: true }).waitFor();
    const asked = page.waitForRequest("**/StreamEvaluate");
    await move.fill("Nf3");
    await move.press("Enter");
    await asked;
    await page
      .getByRole("toolbar", { name: /^Line 1/ })
      .getByText(/^2…/)
      .waitFor();
  });
});

describeWith("chromium")("a person without a key", () => {
  const kibitz = usePage(useServiceInProcess({ KIBITZ_ACCESS: "public" }));

  test("if a user without a key steps through 120 plies at two plies a second, the page shows an evaluation after each pause", async () => {
    const page = await kibitz.open({
      address: `#moves=${movesForLink(120)}&ply=0&depth=4`,
      ownTab: true,
      prepare: (page) => page.clock.install({ time: 0 }),
    });
    const { lines, state } = analysisOf(page);
    await state.getByText("Depth 4", { exact: true }).waitFor();
    // From here the test controls the clock, so that a slow machine also makes two moves per second.
    await page.clock.pauseAt(3_600_000);
    const searches = searchesOf(page);
    for (let ply = 1; ply <= 120; ply++) {
      await page.keyboard.press("ArrowRight");
      await page.clock.runFor(500);
      if (ply % 10 === 0) {
        await page.clock.runFor(700);
        await state.getByText("Depth 4", { exact: true }).waitFor();
        await lines.first().waitFor();
      }
    }
    for (let ply = 119; ply >= 110; ply--) {
      await page.keyboard.press("ArrowLeft");
    }
    // Known positions are not searched again.
    await state.getByText("Depth 4", { exact: true }).waitFor();
    expect(searches).toHaveLength(12);
  });
});

function movesForLink(plies: number): string {
  const chess = Chess.default();
  const moves: string[] = [];
  while (moves.length < plies) {
    const legal = [...chess.allDests()].flatMap(([from, targets]) =>
      [...targets].map((to) => ({ from, to })),
    );
    const move = legal[(moves.length * 7) % legal.length] ?? expect.fail("the game is over");
    moves.push(makeUci(move));
    chess.play(move);
  }
  return moves.join("_");
}
