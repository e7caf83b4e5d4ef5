import type { Call } from "../../calls/call.ts";
import { KibitzError } from "../../errors/errors.ts";
import type { RequestContext } from "../../request/context.ts";

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
  const open: string[] = [];
  return async function* (request, call) {
    const address = addressOf(call.request);
    const isAddressFull = open.filter((other) => other === address).length >= perAddress;
    if (isAddressFull || open.length >= inAll) {
      const most = isAddressFull
        ? `${perAddress} callers at a time of one address`
        : `${inAll} callers at a time`;
      throw new KibitzError("overloaded", `This call serves at most ${most}.`, { retryAfterMs: 1000 });
    }
    open.push(address);
    try {
      yield* method(request, call);
    } finally {
      open.splice(open.indexOf(address), 1);
    }
  };
}
