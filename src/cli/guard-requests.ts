import type { Log } from "../log/log.ts";
import type { Meter } from "../metrics/meter.ts";
import { forgetOwner, type Owner, ownerNow } from "../request/owner.ts";
import { now } from "../time/time.ts";
import { type Host, unhandledEvents } from "./host.ts";

interface GuardOptions {
  readonly host: Pick<Host, "on" | "off">;
  readonly log: Pick<Log, "error">;
  /** Called for an error that belongs to no request. */
  readonly stop: () => void;
}

interface Guard extends Disposable {
  /** The number of errors that nothing caught. */
  readonly count: number;
  /** Counts the errors also in the metrics. */
  meter: Pick<Meter, "unhandledError"> | undefined;
}

const linesMax = 10;
const windowMs = 60_000;

/** An error that nothing catches ends only the request to which it belongs. If it belongs to none, `stop` is called. */
export function guardRequests({ host, log, stop }: GuardOptions): Guard {
  let meter: Guard["meter"];
  let count = 0;
  let windowEndsAt = 0;
  let lines = 0;
  let unlogged = 0;

  /** A caller may cause errors at any rate, so the lines of a minute are limited. */
  function report(err: unknown, owner: Owner | undefined): void {
    const nowMs = now();
    if (nowMs >= windowEndsAt) {
      windowEndsAt = nowMs + windowMs;
      lines = 0;
    }
    // Always log the error that stops the service.
    if (lines >= linesMax && owner) {
      unlogged++;
      return;
    }
    lines++;
    const fields = { err, ...fieldsOf(owner), ...(unlogged > 0 && { count: unlogged }) };
    unlogged = 0;
    log.error(
      fields,
      owner
        ? "an error that nothing caught has ended its request"
        : "an error outside of every request: stopping",
    );
  }

  function handle(error: unknown): void {
    const owner = ownerNow();
    forgetOwner();
    count++;
    try {
      meter?.unhandledError();
      report(error, owner);
    } catch {
      // The request must end even if the log is broken.
    }
    if (owner) {
      owner.end(error);
    } else {
      stop();
    }
  }

  for (const event of unhandledEvents) {
    host.on(event, handle);
  }
  return {
    get count() {
      return count;
    },
    get meter() {
      return meter;
    },
    set meter(given) {
      meter = given;
    },
    [Symbol.dispose]() {
      for (const event of unhandledEvents) {
        host.off(event, handle);
      }
    },
  };
}

/** The fields of a request throw until the request is identified. */
function fieldsOf(owner: Owner | undefined): Owner["fields"] | undefined {
  try {
    return owner?.fields;
  } catch {
    return undefined;
  }
}
