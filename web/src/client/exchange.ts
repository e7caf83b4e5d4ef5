import type { DescMethod, Message } from "@bufbuild/protobuf";
import {
  type CallOptions,
  ConnectError,
  createContextKey,
  createContextValues,
  type Interceptor,
} from "@connectrpc/connect";
import { type ReadonlySignal, signal } from "@preact/signals";

export interface Exchange {
  readonly method: DescMethod;
  readonly request: Message;
  readonly withKey: boolean;
  /** `aborted`: the page cancelled the call. This is not an error. */
  readonly state: "open" | "done" | "aborted" | "failed";
  /** Undefined until the response starts. */
  readonly headers: Headers | undefined;
  readonly answer: Message | undefined;
  readonly error: unknown;
  /** The duration of the call in milliseconds. Undefined until the call ends. */
  readonly totalMs: number | undefined;
}

const isAside = createContextKey(false);

/** Options for calls in the background, which the page does not show, such as loading the list of engines. */
export const aside: CallOptions = { contextValues: createContextValues().set(isAside, true) };

/** Stores the latest call for the page. Ignores calls with {@link aside}. */
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
    // No error reaches the `catch` below if the call was aborted or a stream was not read to the end.
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
      // The code above has consumed the request's only message. Send the message in a new stream.
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
