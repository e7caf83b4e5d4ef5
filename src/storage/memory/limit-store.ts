import { createInFlight } from "../../request/in-flight.ts";
import { now, wall } from "../../time/time.ts";
import type {
  EngineTime,
  EnterAnswer,
  EnterRequest,
  LimitStore,
  LimitWindow,
  OnPlace,
  SearchPlace,
  UsageStore,
  WindowUse,
} from "../ports.ts";
import { createTurns } from "../turns.ts";
import { createWindows } from "./windows.ts";

export interface MemoryLimitStore extends LimitStore {
  /** Reads the used engine time. `windowMsOf` returns the length of the windows of a rate, or undefined for an unknown rate. */
  restore(windowMsOf: (rate: string) => number | undefined): Promise<void>;
  flush(): Promise<void>;
}

/** `usage` stores the used engine time, which thus survives a restart. */
export function createMemoryLimitStore(usage?: UsageStore): MemoryLimitStore {
  const windows = createWindows();
  const turns = createTurns();
  const places = createInFlight({ onFreed: turns.wakeFirst });
  const unwritten = new Map<string, EngineTime>();

  function keep(time: EngineTime): void {
    const id = `${time.rate} ${time.subject}`;
    const engineMs = time.engineMs + (unwritten.get(id)?.engineMs ?? 0);
    unwritten.set(id, { ...time, engineMs });
  }

  function addEngineTime(window: LimitWindow, engineMs: number): void {
    const { endsInMs } = windows.add(window, engineMs);
    if (usage) {
      const { rate, subject } = window;
      keep({ rate, subject, engineMs, resetsAt: wall() + endsInMs });
    }
  }

  /** `ahead` is the number of waiting requests that enter before this request. */
  function take(asked: EnterRequest, ahead: number, onPlace: OnPlace): EnterAnswer {
    const { subject, concurrent, expectedMs, engineTime, requests, count } = asked;
    if (concurrent !== undefined && places.fullFor(subject, concurrent - ahead)) {
      return { kind: "busy", running: places.of(subject) };
    }
    const uses = { engineTime: engineTime.map(windows.of), requests: requests.map(windows.of) };
    if (engineTime.some(({ quota }, index) => usedOf(uses.engineTime[index]) >= quota)) {
      return { kind: "exhausted", ...uses };
    }
    if (requests.some(({ quota }, index) => usedOf(uses.requests[index]) + count > quota)) {
      return { kind: "full", ...uses };
    }
    const takenAt = now();
    const after = requests.map((window) => windows.add(window, count));
    const taken = concurrent === undefined ? undefined : places.take(subject, expectedMs);
    const place: SearchPlace = {
      free: () => taken?.[Symbol.dispose](),
      leave(engineMs, givesBack) {
        place.free();
        for (const window of engineMs > 0 ? engineTime : []) {
          addEngineTime(window, engineMs);
        }
        const elapsedMs = now() - takenAt;
        for (const [index, window] of givesBack ? requests.entries() : []) {
          // Return requests only to the window that counted them, not to a later window.
          if (elapsedMs < (after[index]?.endsInMs ?? 0)) {
            windows.add(window, -count);
          }
        }
      },
    };
    onPlace(place);
    return { kind: "entered", place, engineTime: uses.engineTime, requests: after };
  }

  return {
    available: true,
    async enter(asked, waiting, onPlace = () => {}) {
      using turn = waiting && turns.take(asked.subject);
      for (;;) {
        const answer = take(asked, turn?.ahead ?? turns.waiting(asked.subject), onPlace);
        if (answer.kind !== "busy" || !(turn && waiting)) {
          return answer;
        }
        await turn.woken(waiting);
      }
    },
    addRefusals: async (window, count) => windows.add(window, count),
    usesOf: async (asked) => asked.map(windows.of),
    async restore(windowMsOf) {
      const now = wall();
      for (const { rate, subject, engineMs, resetsAt } of (await usage?.current(now)) ?? []) {
        const windowMs = windowMsOf(rate);
        if (windowMs === undefined) {
          continue;
        }
        const storedMs = resetsAt - now;
        const { endsInMs } = windows.restore(
          { rate, subject, windowMs },
          { used: engineMs, endsInMs: storedMs },
        );
        if (endsInMs < storedMs) {
          // Store the earlier end: otherwise the window would begin again at every restart.
          keep({ rate, subject, engineMs: 0, resetsAt: now + endsInMs });
        }
      }
    },
    async flush() {
      const written = [...unwritten.values()];
      unwritten.clear();
      if (written.length === 0) {
        return;
      }
      try {
        await usage?.add(written, wall());
      } catch (error) {
        written.filter(({ resetsAt }) => resetsAt > wall()).forEach(keep);
        throw error;
      }
    },
  };
}

const usedOf = (use: WindowUse | undefined) => use?.used ?? 0;
