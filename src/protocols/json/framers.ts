import { create, type DescField, type DescMethod, type Message } from "@bufbuild/protobuf";
import { listOfBatch } from "../../calls/bound-request.ts";
import { createMessageWriter, createPlainWriter } from "../../calls/plain/write-message.ts";
import { createReorderBuffer } from "../../calls/reorder-buffer.ts";
import { errorFromUnknown, KibitzError } from "../../errors/errors.ts";
import { problemFromError } from "../../errors/problem.ts";
import { eventsOf, kindOfRoute, type Route, type RouteKind } from "./routes.ts";
import type { AnswerForm } from "./send-answer.ts";

const json = "application/json";

export const eventStream = "text/event-stream";

export const jsonLines = "application/x-ndjson";

export interface Framer extends AnswerForm {
  readonly mediaType: string;
  /** True for a message that only reports a queue position. Such messages are skipped until the answer begins. */
  readonly isWaiting?: (message: Message) => boolean;
  /** True if the first message can take longer than a heartbeat. The heartbeats then begin without waiting for it. */
  readonly isSlow: boolean;
  /** Converts messages to text. Throws an error if the media type cannot express the error. */
  frame(messages: AsyncIterable<Message>, request: Message, requestId: string): AsyncIterable<string>;
}

type Form = Omit<Framer, "isSlow">;

// The heartbeat is a space. A line break would be an empty line for clients that read lines.
const asJson = { mediaType: json, contentType: `${json}; charset=utf-8`, heartbeat: " ", headWaits: true };
const asLines = { mediaType: jsonLines, contentType: jsonLines, heartbeat: " ", headWaits: false };
const asEvents = {
  mediaType: eventStream,
  contentType: `${eventStream}; charset=utf-8`,
  heartbeat: ": keep-alive\n\n",
  headWaits: false,
};

/** Returns a framer for each media type of the route. The first media type is the default. */
export function framersOf(route: Pick<Route, "method">): readonly Framer[] {
  const { method } = route;
  const kind = kindOfRoute(route);
  const isSlow = kind === "batch" || kind === "answer_at_end";
  return formsOf(kind, method).map((form) => ({ ...form, isSlow }));
}

function formsOf(kind: RouteKind, method: DescMethod): readonly Form[] {
  switch (kind) {
    case "unary":
      return [messageFramer(method)];
    case "stream":
      return [eventFramer(method, false)];
    case "batch":
      return batchFramers(method);
    case "answer_at_end":
      return [answerFramer(method), eventFramer(method, true), lineFramer(method)];
  }
}

function messageFramer({ output }: DescMethod): Form {
  const write = createMessageWriter(output);
  return {
    ...asJson,
    async *frame(messages) {
      for await (const message of messages) {
        yield `${write(message)}\n`;
      }
    },
  };
}

function answerFramer(method: DescMethod): Form {
  const write = createEventWriter(method);
  return {
    ...asJson,
    isWaiting: (message) => write(message)?.name === waitingEvent,
    async *frame(messages) {
      let last: Message | undefined;
      for await (const message of messages) {
        last = message;
      }
      const event = last && write(last);
      if (!event?.isAnswer) {
        throw new Error(`${method} ended without its answer`);
      }
      yield `${event.data}\n`;
    },
  };
}

const waitingEvent = "queued";

/**
 * Sends each message as an event. The last event is `done` with the answer, or `error` with a problem document.
 * If `isAnsweredOnce` is true, only the event `done` contains an answer.
 */
function eventFramer(method: DescMethod, isAnsweredOnce: boolean): Form {
  const write = createEventWriter(method);
  const frameOf = (event: string, data: string) => `event: ${event}\ndata: ${data}\n\n`;
  return {
    ...asEvents,
    async *frame(messages, _, requestId) {
      let last = "";
      try {
        for await (const message of messages) {
          const event = write(message);
          if (event?.isAnswer) {
            last = event.data;
          }
          if (event && !(event.isAnswer && isAnsweredOnce)) {
            yield frameOf(event.name, event.data);
          }
        }
        yield frameOf("done", last);
      } catch (thrown) {
        yield frameOf("error", problemText(thrown, requestId));
      }
    },
  };
}

/** Sends each message as a line, such as `{"move": {…}}`. The last line is the answer, or a `problem`. */
function lineFramer(method: DescMethod): Form {
  const write = createEventWriter(method);
  return {
    ...asLines,
    async *frame(messages, _, requestId) {
      try {
        for await (const message of messages) {
          const event = write(message);
          if (event) {
            yield `{"${event.name}":${event.data}}\n`;
          }
        }
      } catch (thrown) {
        yield `{"problem":${problemText(thrown, requestId)}}\n`;
      }
    },
  };
}

/** Sends the answers as a JSON array in the order of the items, or as lines. A line is sent when its answer is ready. */
function batchFramers(method: DescMethod): readonly Form[] {
  const answersOf = createItemWriter(method);
  return [
    {
      ...asJson,
      async *frame(messages, request, requestId) {
        const order = createReorderBuffer<string>();
        let separator = "";
        yield "[";
        for await (const { index, text } of answersOf(messages, request, requestId)) {
          for (const ready of order(index, text)) {
            yield separator + ready;
            separator = ",\n";
          }
        }
        yield "]\n";
      },
    },
    {
      ...asLines,
      async *frame(messages, request, requestId) {
        for await (const { text } of answersOf(messages, request, requestId)) {
          yield `${text}\n`;
        }
      },
    },
  ];
}

interface ItemAnswer {
  readonly index: number;
  readonly text: string;
}

/** If an error ends the batch, each item without an answer gets this error as its `problem`. */
function createItemWriter(method: DescMethod) {
  const { output } = method;
  const write = createMessageWriter(output);
  const list = listOfBatch(method);
  const empty = createPlainWriter(output)(create(output));

  return async function* (
    messages: AsyncIterable<Message>,
    request: Message,
    requestId: string,
  ): AsyncGenerator<ItemAnswer> {
    const open = new Set((request as Message & Record<string, readonly Message[]>)[list.localName]?.keys());
    let error = new KibitzError("internal", "The batch ended before this item was answered.");
    try {
      for await (const message of messages) {
        const { index } = message as Message & { index: number };
        open.delete(index);
        yield { index, text: write(message) };
      }
    } catch (thrown) {
      error = errorFromUnknown(thrown);
    }
    const problem = problemFromError(error, requestId);
    for (const index of open) {
      yield { index, text: JSON.stringify({ ...empty, index, problem }) };
    }
  };
}

interface StreamEvent {
  readonly name: string;
  readonly data: string;
  readonly isAnswer: boolean;
}

/** The writer returns undefined for a message that has no field known to this version. */
function createEventWriter(method: DescMethod): (message: Message) => StreamEvent | undefined {
  const { choice, answer } = eventsOf(method);
  const writers = new Map(
    choice.fields.map((field) => {
      const write = createMessageWriter(field.message as NonNullable<DescField["message"]>);
      return [field.localName, { name: field.name, isAnswer: field === answer, write }];
    }),
  );
  return (message) => {
    const chosen = (message as Message & Record<string, unknown>)[choice.localName] as Chosen;
    const writer = writers.get(chosen.case ?? "");
    return (
      writer && {
        name: writer.name,
        isAnswer: writer.isAnswer,
        data: writer.write(chosen.value as Message),
      }
    );
  };
}

type Chosen = { readonly case?: string; readonly value?: unknown };

function problemText(thrown: unknown, requestId: string): string {
  return JSON.stringify(problemFromError(errorFromUnknown(thrown), requestId));
}
