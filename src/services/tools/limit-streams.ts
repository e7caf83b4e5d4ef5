import type { Call } from "../../calls/call.ts";
import { KibitzError } from "../../errors/errors.ts";
import type { RequestContext } from "../../request/context.ts";
import { createInFlight } from "../../request/in-flight.ts";

interface StreamLimits {
  readonly inAll: number;
  readonly perAddress: number;
  readonly addressOf: (request: RequestContext) => string;
}

type Method<Q, A> = (request: Q, call: Call) => AsyncIterable<A>;

/**
 * Rejects a stream with `overloaded` while too many streams are open, because rate limits do not count health and reflection.
 */
export function limitStreams<Q, A>(
  { inAll, perAddress, addressOf }: StreamLimits,
  method: Method<Q, A>,
): Method<Q, A> {
  const open = createInFlight({ max: inAll });
  return async function* (request, call) {
    const address = addressOf(call.request);
    const full = open.fullFor(address, perAddress);
    if (full) {
      const most = `${full.max} callers at a time${full.of === "holder" ? " of one address" : ""}`;
      throw new KibitzError("overloaded", `This call serves at most ${most}.`, { retryAfterMs: 1000 });
    }
    using _ = open.take(address);
    yield* method(request, call);
  };
}
