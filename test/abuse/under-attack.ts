import { setTimeout as sleep } from "node:timers/promises";
import { expect, vi } from "vitest";
import { patienceMs } from "../support/patience.ts";
import { type Health, watchHealth } from "./health-watch.ts";
import { expectEvaluation, type StartedService } from "./started-service.ts";

interface Bounds {
  /** The attack is held for this number of milliseconds, and until `expectAnswered` passes. */
  readonly heldMs: number;
  /** Throws until the service has answered the attack. A slow machine may need longer than `heldMs`. */
  readonly expectAnswered?: () => void;
  readonly grownBytes?: number;
  /** False in `open` mode, in which one caller may take all calls. */
  readonly hasRoomForOthers?: boolean;
}

const evaluateEveryMs = 500;
/** A flood may stall the thread once for a second while its packets are read: 5 of 100 probes. */
const probesMin = 200;

/**
 * Fails unless, during an attack, every health probe of another address is answered, 95 of 100 within 100 ms, every evaluation
 * for another address is answered, and the memory grows by less than 200 MB.
 * @param attack begins the attack, and resolves with a function that ends the attack
 */
export async function expectOthersServed(
  service: StartedService,
  attack: () => Promise<() => void>,
  { heldMs, expectAnswered = () => {}, grownBytes = 200e6, hasRoomForOthers = true }: Bounds,
): Promise<Health> {
  const stop = await watchHealth(service, probesMin);
  let isHeld = true;
  const others = (async () => {
    while (isHeld && hasRoomForOthers) {
      await expectEvaluation(service.url);
      await sleep(evaluateEveryMs);
    }
  })();
  const end = await attack();
  try {
    await sleep(heldMs);
    await vi.waitFor(expectAnswered, { timeout: patienceMs, interval: 100 });
  } finally {
    isHeld = false;
    end();
  }
  await others;
  const health = await stop();
  const seen = JSON.stringify(health);
  expect(health.failed, seen).toBe(0);
  expect(health.p95Ms, seen).toBeLessThan(100);
  expect(health.grownBytes, seen).toBeLessThan(grownBytes);
  return health;
}
