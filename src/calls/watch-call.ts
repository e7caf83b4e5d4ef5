import type { Message } from "@bufbuild/protobuf";
import type { StreamRequest, StreamResponse, UnaryRequest, UnaryResponse } from "@connectrpc/connect";

/** How an answer ended: at its last message, at an error, or at a reader that left. */
export type AnswerEnd = {
  /** The last message that was handed on, or was on its way. */
  readonly last: Message | undefined;
} & (
  | { readonly kind: "ok" }
  | { readonly kind: "failed"; readonly thrown: unknown }
  /** With what was thrown at the reader's, if anything was. */
  | { readonly kind: "left"; readonly thrown?: unknown }
);

/** What an interceptor does with an answer, whether that is one message or a stream of them. */
export interface AnswerWatch {
  /** Before a message is handed on. */
  message?(message: Message): Promise<void> | void;
  /** Gives what is thrown in the stead of what was. */
  failed?(thrown: unknown): unknown;
  /** Once, however it ended. */
  ended?(end: AnswerEnd): void;
}

/** Asks for an answer, and watches it to its end: a stream goes on, and fails, where its messages are read. */
export async function watchAnswer(
  ask: () => Promise<UnaryResponse | StreamResponse>,
  watch: AnswerWatch,
): Promise<UnaryResponse | StreamResponse> {
  let end: AnswerEnd | undefined;
  try {
    const response = await ask();
    if (response.stream) {
      return { ...response, message: watchMessages(response.message, watch) };
    }
    await watch.message?.(response.message);
    end = { kind: "ok", last: response.message };
    return response;
  } catch (thrown) {
    end = { kind: "failed", last: undefined, thrown };
    throw watch.failed ? await watch.failed(thrown) : thrown;
  } finally {
    if (end) {
      watch.ended?.(end);
    }
  }
}

async function* watchMessages(messages: AsyncIterable<Message>, watch: AnswerWatch): AsyncGenerator<Message> {
  let end: AnswerEnd | undefined;
  let last: Message | undefined;
  let delivering = false;
  try {
    for await (const message of messages) {
      await watch.message?.(message);
      delivering = true;
      last = message;
      yield message;
      delivering = false;
    }
    end = { kind: "ok", last };
  } catch (thrown) {
    end = delivering ? { kind: "left", last, thrown } : { kind: "failed", last, thrown };
    throw watch.failed ? await watch.failed(thrown) : thrown;
  } finally {
    watch.ended?.(end ?? { kind: "left", last });
  }
}

/** The request, whose messages are looked at: the one there is at once, those of a stream as they are read. */
export function watchRequest(
  request: UnaryRequest | StreamRequest,
  look: (message: Message) => void,
): UnaryRequest | StreamRequest {
  if (!request.stream) {
    look(request.message);
    return request;
  }
  const { message: messages } = request;
  const message = (async function* () {
    for await (const one of messages) {
      look(one);
      yield one;
    }
  })();
  return { ...request, message };
}
