import type { DescMethod, Message } from "@bufbuild/protobuf";
import {
  type CallOptions,
  ConnectError,
  createContextKey,
  createContextValues,
  type Interceptor,
} from "@connectrpc/connect";
import { signal } from "@preact/signals";

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
  /** How many messages have come. */
  readonly answers: number;
  /** The thrown error, if `failed`; see `problem.ts`. */
  readonly error: unknown;
  /** From the call to the first message, in milliseconds; undefined before it. */
  readonly firstMs: number | undefined;
  /** From the call to its end, in milliseconds. */
  readonly totalMs: number | undefined;
}

/** The latest call, for whoever shows it. */
export const lastExchange = signal<Exchange | undefined>(undefined);

const isAside = createContextKey(false);

/** For calls that the page makes for itself, such as for the list of engines: they are not the one that is shown. */
export const aside: CallOptions = { contextValues: createContextValues().set(isAside, true) };

/** Notes every call that passes, unless it is made {@link aside}. */
export const recordExchange: Interceptor = (next) => async (request) => {
  if (request.contextValues.get(isAside)) {
    return next(request);
  }
  const startedAt = performance.now();
  const message = request.stream ? await first(request.message) : request.message;
  let exchange: Exchange = {
    method: request.method,
    request: message,
    withKey: request.header.has("Authorization"),
    state: "open",
    headers: undefined,
    answer: undefined,
    answers: 0,
    error: undefined,
    firstMs: undefined,
    totalMs: undefined,
  };
  lastExchange.value = exchange;
  const note: Note = (more) => {
    const isLatest = lastExchange.peek() === exchange;
    exchange = { ...exchange, ...more };
    if (isLatest) {
      lastExchange.value = exchange;
    }
  };
  const take = (answer: Message) => {
    const firstMs = exchange.firstMs ?? performance.now() - startedAt;
    note({ answer, answers: exchange.answers + 1, firstMs });
  };
  const end = (state: "done" | "aborted") => {
    if (exchange.state === "open") {
      note({ state, totalMs: performance.now() - startedAt });
    }
  };
  const fail = (error: unknown) => {
    if (exchange.state !== "open") {
      return;
    }
    const totalMs = performance.now() - startedAt;
    const headers = exchange.headers ?? ConnectError.from(error).metadata;
    note({ state: "failed", error, headers, totalMs });
  };
  // A reader who has left sees no error, and neither does a stream that is read no further.
  request.signal.addEventListener("abort", () => end("aborted"));
  try {
    // The messages of a stream's request are a stream too; all our calls send one, which has been read.
    const response = await next(request.stream ? { ...request, message: only(message) } : request);
    note({ headers: response.header });
    if (response.stream) {
      return { ...response, message: watched(response.message, { take, end: () => end("done"), fail }) };
    }
    take(response.message);
    end("done");
    return response;
  } catch (error) {
    fail(error);
    throw error;
  }
};

type Note = (more: Partial<Exchange>) => void;

interface Watcher {
  take(message: Message): void;
  end(): void;
  fail(error: unknown): void;
}

async function* watched<T extends Message>(
  messages: AsyncIterable<T>,
  { take, end, fail }: Watcher,
): AsyncIterable<T> {
  try {
    for await (const message of messages) {
      take(message);
      yield message;
    }
    end();
  } catch (error) {
    fail(error);
    throw error;
  }
}

async function first<T>(messages: AsyncIterable<T>): Promise<T> {
  for await (const message of messages) {
    return message;
  }
  throw new Error("a call sends a message");
}

async function* only<T>(message: T): AsyncIterable<T> {
  yield message;
}
