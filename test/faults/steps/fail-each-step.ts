import { isDeepStrictEqual } from "node:util";
import type { Exchange, Read } from "./exchanges.ts";
import { failedItem } from "./exchanges.ts";
import { type FailingServer, type Gauges, settledGauges } from "./failing-server.ts";
import { replyTo } from "./reply.ts";

interface Tried {
  readonly steps: number;
  /** How many of the failed requests got their answer, an error in the form of their protocol, or the end of their connection. */
  readonly outcomes: Readonly<Record<string, number>>;
  /** Failures of the test: the step, and the wrong result of its failure. */
  readonly faults: readonly string[];
}

/**
 * Sends a request again and again. Each time, another one of its steps fails, beginning with `first` and then each `every`-th.
 */
export async function failEachStep(
  server: FailingServer,
  { name, sent, read }: Exchange,
  { first = 1, every = 1 }: { readonly first?: number; readonly every?: number } = {},
): Promise<Tried> {
  const ask = async () => read(await replyTo(server.url, sent));
  const expected = await ask();
  // The second time, everything that is loaded at the first time is there.
  const again = await ask();
  if (expected.kind !== "answer" || !isDeepStrictEqual(again, expected)) {
    throw new Error(`${name}: two equal requests differ: ${JSON.stringify([expected, again])}`);
  }
  const before = await server.gauges();
  const outcomes: Record<string, number> = {};
  const faults: string[] = [];
  for (let step = first; ; step += every) {
    await server.arm(step);
    const outcome = await ask().catch((error: Error) => error);
    const { reached, failed } = await server.arm(0);
    if (failed === undefined && reached < step) {
      return { steps: step - first, outcomes, faults };
    }
    const fault = (what: string) => faults.push(`${name}, step ${step} (${failed}): ${what}`);
    const unhandled = server.unhandled.length;
    if (outcome instanceof Error) {
      fault(outcome.message);
    } else if (outcome.kind === "answer" && !isRight(outcome.items, expected.items)) {
      fault(`a wrong answer: ${JSON.stringify(outcome.items).slice(0, 500)}`);
    } else {
      const kind = outcome.kind === "answer" && outcome.items.includes(failedItem) ? "error" : outcome.kind;
      outcomes[kind] = (outcomes[kind] ?? 0) + 1;
    }
    if (!server.isRunning()) {
      fault("the process has ended");
      return { steps: step, outcomes, faults };
    }
    const next = await ask().catch((error: Error) => error);
    if (!isDeepStrictEqual(next, expected)) {
      fault(
        `the next request got ${next instanceof Error ? next.message : JSON.stringify(next).slice(0, 500)}`,
      );
    }
    const now = await settledGauges(server, before);
    for (const [gauge, value] of grown(before, now)) {
      fault(`${gauge} was ${before[gauge]} and is ${value}`);
    }
    if (server.unhandled.length > unhandled) {
      fault(`nothing caught it: ${server.unhandled.at(-1)?.slice(0, 1500)}`);
    }
    if (faults.length > 0) {
      // Remains of this step would disturb the next steps.
      return { steps: step, outcomes, faults };
    }
  }
}

/** True if each item is as expected, or an error. */
function isRight(items: Extract<Read, { kind: "answer" }>["items"], expected: readonly unknown[]): boolean {
  return (
    items.length === expected.length &&
    items.every((item, index) => item === failedItem || isDeepStrictEqual(item, expected[index]))
  );
}

function grown(before: Gauges, now: Gauges): readonly (readonly [string, number])[] {
  return Object.entries(now).filter(([name, value]) => value > (before[name] ?? 0));
}
