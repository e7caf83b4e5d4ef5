import { requestKey } from "../../calls/context-keys.ts";
import type { MethodContext } from "../../calls/invoke.ts";
import { KibitzError } from "../../errors/errors.ts";
import type { RequestContext } from "../../request/context.ts";

/** How many of a call may be open at a time. */
export interface Most {
  readonly inAll: number;
  /** For one address. */
  readonly perAddress: number;
  /** The address that a caller is known by. */
  readonly addressOf: (request: RequestContext) => string;
}

type Call<Q, A> = (request: Q, context: Pick<MethodContext, "signal" | "values">) => AsyncIterable<A>;

/** One that is open. */
interface Open {
  /** Whether it waits for news, and not for its reader. */
  waits: boolean;
  end(reason: KibitzError): void;
}

const retryAfterMs = 1000;

/**
 * A call that answers with a stream, of which so many may be open at a time: for calls that nobody is counted for. Where
 * all are taken, the address that has most of them gives its oldest to one that has fewer.
 */
export function atMost<Q, A>({ inAll, perAddress, addressOf }: Most, call: Call<Q, A>): Call<Q, A> {
  const byAddress = new Map<string, Set<Open>>();
  let count = 0;

  function leave(one: Open, address: string): void {
    const own = byAddress.get(address);
    if (!own?.delete(one)) {
      return;
    }
    count--;
    if (own.size === 0) {
      byAddress.delete(address);
    }
  }

  /** Ends one of the address that has most, if that still has no fewer than the one that asks, who has so many. */
  function freeFor(own: number): boolean {
    const giving = [...byAddress]
      .filter(([, { size }]) => size > own + 1)
      .toSorted(([, a], [, b]) => b.size - a.size);
    for (const [address, places] of giving) {
      const one = [...places].find(({ waits }) => waits);
      if (one) {
        leave(one, address);
        const detail = "Others need the place of this call. Call again.";
        one.end(new KibitzError("overloaded", detail, { retryAfterMs }));
        return true;
      }
    }
    return false;
  }

  return async function* (request, context) {
    const address = addressOf(context.values.get(requestKey));
    const own = byAddress.get(address)?.size ?? 0;
    if (own >= perAddress) {
      const detail = `This call serves at most ${perAddress} callers at a time of one address.`;
      throw new KibitzError("overloaded", detail, { retryAfterMs });
    }
    if (count >= inAll && !freeFor(own)) {
      const detail = `This call serves at most ${inAll} callers at a time.`;
      throw new KibitzError("overloaded", detail, { retryAfterMs });
    }
    const ending = new AbortController();
    const one: Open = { waits: true, end: (reason) => ending.abort(reason) };
    const places = byAddress.get(address) ?? new Set();
    byAddress.set(address, places.add(one));
    count++;
    try {
      const signal = AbortSignal.any([context.signal, ending.signal]);
      for await (const message of call(request, { ...context, signal })) {
        one.waits = false;
        yield message;
        one.waits = true;
      }
    } finally {
      leave(one, address);
    }
  };
}
