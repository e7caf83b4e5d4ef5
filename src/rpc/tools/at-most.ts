import { KibitzError } from "../../errors/errors.ts";

/** A call that answers with a stream, of which so many may be open at a time: for calls that nobody is counted for. */
export function atMost<A extends readonly unknown[], T>(
  max: number,
  call: (...args: A) => AsyncIterable<T>,
): (...args: A) => AsyncGenerator<T> {
  let open = 0;
  return async function* (...args) {
    if (open >= max) {
      throw new KibitzError("overloaded", `This call serves at most ${max} callers at a time.`, {
        retryAfterMs: 1000,
      });
    }
    open += 1;
    try {
      yield* call(...args);
    } finally {
      open -= 1;
    }
  };
}
