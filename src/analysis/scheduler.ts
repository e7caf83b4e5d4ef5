/** Hands out the node's slots: how many searches run at a time. */
export interface Scheduler {
  /** Waits for a slot, first come, first served. @throws the reason of `signal`. */
  enter(signal: AbortSignal): Promise<Slot>;
}

/** A place to search in. Disposing of it lets the next one in, once. */
export interface Slot extends Disposable {
  /** Milliseconds waited for it. */
  readonly queueMs: number;
}

export function createScheduler(slots: number): Scheduler {
  let free = slots;
  const waiting = new Set<() => void>();

  function leave() {
    const [next] = waiting;
    if (next) {
      waiting.delete(next);
      next();
    } else {
      free++;
    }
  }

  function slotOf(queueMs: number): Slot {
    let held = true;
    return {
      queueMs,
      [Symbol.dispose]() {
        if (held) {
          held = false;
          leave();
        }
      },
    };
  }

  return {
    async enter(signal) {
      signal.throwIfAborted();
      if (free > 0) {
        free--;
        return slotOf(0);
      }
      const startedAt = performance.now();
      await new Promise<void>((resolve, reject) => {
        const admit = () => {
          signal.removeEventListener("abort", giveUp);
          resolve();
        };
        const giveUp = () => {
          waiting.delete(admit);
          reject(signal.reason);
        };
        waiting.add(admit);
        signal.addEventListener("abort", giveUp, { once: true });
      });
      return slotOf(Math.round(performance.now() - startedAt));
    },
  };
}
