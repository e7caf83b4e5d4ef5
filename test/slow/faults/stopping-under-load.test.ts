import { setTimeout as sleep } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import { startFen } from "../../contract/protocols/cases/case.ts";
import { descendantsOf, stillRunning } from "../../engine/processes.ts";
import { patienceMs } from "../../support/patience.ts";
import { logLevel, serve } from "../../support/served.ts";

/** All requests differ, because equal requests would share a search. */
const requestOf = (number: number) => ({
  fen: startFen.replace(/1$/, String(number)),
  depth: 8 + (number % 4),
  multipv: 1 + (number % 3),
});

/** The number of callers. The server has only two slots, so most searches wait. */
const callersMax = 12;

interface Outcome {
  readonly askedAt: number;
  /** `answered`, a problem code, or the reason why no answer arrived. */
  readonly what: string;
}

async function ask(url: string, number: number): Promise<Outcome> {
  const askedAt = performance.now();
  const streams = number % 3 === 0;
  try {
    const response = await fetch(`${url}/v1/${streams ? "eval/stream" : "eval"}`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(requestOf(number)),
    });
    const text = await response.text();
    if (response.status !== 200) {
      return { askedAt, what: JSON.parse(text).code };
    }
    const whole = streams ? text.includes("event: done") : JSON.parse(text).best_move.san !== "";
    return { askedAt, what: whole ? "answered" : `broken off: ${text.slice(-200)}` };
  } catch (error) {
    return { askedAt, what: `no answer: ${(error as Error).cause}` };
  }
}

test.each(["SIGTERM", "SIGINT"] as const)(
  "a server that gets %s under load answers all accepted requests, leaves no engine running, and exits with 0",
  async (signal) => {
    const { url, pid, logged, stop } = await serve({ KIBITZ_SLOTS: "2", KIBITZ_QUEUE_MAX_WAIT_MS: "60000" });
    let number = 1;
    let over = false;
    const outcomes: Outcome[] = [];
    const callers = Array.from({ length: callersMax }, async () => {
      while (!over) {
        outcomes.push(await ask(url, number++));
      }
    });
    // From now on, every caller has a search that runs or waits.
    await vi.waitFor(() => expect(outcomes.length).toBeGreaterThan(callersMax), 3 * patienceMs);
    const engines = descendantsOf(pid);
    expect(engines.length).toBeGreaterThan(0);
    const stoppedAt = performance.now();
    const stopped = stop(signal);
    await sleep(500);
    over = true;
    expect(await stopped).toBe(0);
    await Promise.all(callers);

    const accepted = outcomes.filter(({ askedAt }) => askedAt < stoppedAt - 300);
    expect(accepted.length).toBeGreaterThan(callersMax);
    expect(accepted.filter(({ what }) => what !== "answered")).toEqual([]);
    const late = outcomes.filter(({ askedAt }) => askedAt >= stoppedAt - 300);
    expect(late.filter(({ what }) => !/^(answered|shutting_down|no answer: .*)$/.test(what))).toEqual([]);
    expect(stillRunning(engines)).toEqual([]);
    expect(descendantsOf(pid)).toEqual([]);
    expect(logged.filter(({ level }) => level >= logLevel.warn)).toEqual([]);
  },
);
