import type { Caller } from "../caller.ts";
import { isGone, type NodeResponse } from "../server/node-message.ts";
import type { Route } from "./routes.ts";

/** What a call knows beside its request. */
export interface CallContext {
  readonly caller: Caller;
  /** Aborted when the caller leaves before the answer is sent. */
  readonly signal: AbortSignal;
  readonly requestMethod: Route["verb"];
}

/**
 * The context of a call that this response answers. Makes the signal when it is first asked for: an answer
 * from the cache may never ask. A class, because an object literal with a getter costs 10 µs a call, a
 * fifth of all.
 */
export class ResponseContext implements CallContext {
  readonly caller: Caller;
  readonly requestMethod: Route["verb"];
  readonly #res: NodeResponse;
  #signal: AbortSignal | undefined;

  constructor(caller: Caller, res: NodeResponse, { verb }: Route) {
    this.caller = caller;
    this.requestMethod = verb;
    this.#res = res;
  }

  get signal(): AbortSignal {
    this.#signal ??= signalOf(this.#res);
    return this.#signal;
  }
}

function signalOf(res: NodeResponse): AbortSignal {
  const controller = new AbortController();
  const leave = () => {
    // The response closes after every answer, too; nobody listens then, and an abort costs more than the call.
    if (!res.writableEnded) {
      controller.abort(new Error("the caller left"));
    }
  };
  if (isGone(res)) {
    leave();
  } else {
    res.once("close", leave);
  }
  return controller.signal;
}
