import type { DescMethod, Message } from "@bufbuild/protobuf";
import {
  type CallOptions,
  ConnectError,
  createContextKey,
  createContextValues,
  type Interceptor,
} from "@connectrpc/connect";
import { type ReadonlySignal, signal } from "@preact/signals";

/** A call that the page made, as far as it has come. */
export interface Exchange {
  readonly method: DescMethod;
  readonly request: Message;
  /** True if the call was sent with the key. */
  readonly withKey: boolean;
  /** `aborted`: the page ended the call, which is no error. */
  readonly state: "open" | "done" | "aborted" | "failed";
  /** The headers of the answer, with the caller's limits; undefined before the answer begins. */
  readonly headers: Headers | undefined;
  /** The latest message; streams have more than one. */
  readonly answer: Message | undefined;
  /** The thrown error, if `failed`; see `problem.ts`. */
  readonly error: unknown;
  /** From the call to its end, in milliseconds; undefined before the end. */
  readonly totalMs: number | undefined;
}

const isAside = createContextKey(false);

/** For calls that the page makes for itself, such as for the list of engines: the page does not show them. */
export const aside: CallOptions = { contextValues: createContextValues().set(isAside, true) };

/** Records the latest call, unless it is made {@link aside}. */
export function createExchanges(): {
  readonly lastExchange: ReadonlySignal<Exchange | undefined>;
  readonly record: Interceptor;
} {
  const lastExchange = signal<Exchange | undefined>();

  const record: Interceptor = (next) => async (request) => {
    if (request.contextValues.get(isAside)) {
      return next(request);
    }
    const startedAt = performance.now();
    const [message] = request.stream ? await Array.fromAsync(request.message) : [request.message];
    if (message === undefined) {
      throw new Error("a call sends a message");
    }
    let exchange: Exchange = {
      method: request.method,
      request: message,
      withKey: request.header.has("Authorization"),
      state: "open",
      headers: undefined,
      answer: undefined,
      error: undefined,
      totalMs: undefined,
    };
    lastExchange.value = exchange;
    const note = (more: Partial<Exchange>) => {
      const isLatest = lastExchange.peek() === exchange;
      exchange = { ...exchange, ...more };
      if (isLatest) {
        lastExchange.value = exchange;
      }
    };
    const end = (more: Partial<Exchange>) => {
      if (exchange.state === "open") {
        note({ ...more, totalMs: performance.now() - startedAt });
      }
    };
    const fail = (error: unknown) => {
      end({ state: "failed", error, headers: exchange.headers ?? ConnectError.from(error).metadata });
    };
    // Neither an aborted call nor a stream that is not read to its end throws here.
    request.signal.addEventListener("abort", () => end({ state: "aborted" }));
    async function* watched<T extends Message>(messages: AsyncIterable<T>): AsyncIterable<T> {
      try {
        for await (const answer of messages) {
          note({ answer });
          yield answer;
        }
        end({ state: "done" });
      } catch (error) {
        fail(error);
        throw error;
      }
    }
    try {
      // The message of a stream's request has been read; the next interceptor gets it again.
      const response = await next(request.stream ? { ...request, message: only(message) } : request);
      note({ headers: response.header });
      if (response.stream) {
        return { ...response, message: watched(response.message) };
      }
      end({ state: "done", answer: response.message });
      return response;
    } catch (error) {
      fail(error);
      throw error;
    }
  };
  return { lastExchange, record };
}

async function* only<T>(message: T): AsyncIterable<T> {
  yield message;
}
