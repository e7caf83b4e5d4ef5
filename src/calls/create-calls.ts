import { create, type DescMethod, type Message } from "@bufbuild/protobuf";
import type { Call, Handler, Implementation } from "./call.ts";
import type { Middleware } from "./middleware.ts";

export type UnaryHandler = (request: Message, call: Call) => Promise<Message>;

/** Both methods throw a TypeError if there is no handler. `unary` also throws a TypeError for a streaming method. */
export interface Calls {
  unary(method: DescMethod): UnaryHandler;
  /** Also accepts unary methods, whose stream has exactly one message. */
  stream(method: DescMethod): Handler;
}

/** The outermost middleware is first. */
export function createCalls(
  implementations: readonly Implementation[],
  middleware: readonly Middleware[],
): Calls {
  const handlers = new Map<DescMethod, Handler>();
  for (const { service, methods } of implementations) {
    for (const method of service.methods) {
      const handler = completed(method, methods[method.localName] as unknown as Implemented);
      handlers.set(
        method,
        middleware.reduceRight((inner, wrap) => wrap(inner, method), handler),
      );
    }
  }
  const stream = (method: DescMethod) => {
    const handler = handlers.get(method);
    if (handler === undefined) {
      throw new TypeError(`${method} has no handler`);
    }
    return handler;
  };
  return {
    unary(method) {
      const handler = stream(method);
      if (method.methodKind !== "unary") {
        throw new TypeError(`${method} has no unary answer`);
      }
      return (request, call) => onlyOf(handler(request, call));
    },
    stream,
  };
}

type Implemented = (request: Message, call: Call) => Promise<Message> | AsyncIterable<Message>;

function completed({ output }: DescMethod, method: Implemented): Handler {
  return async function* (request, call) {
    const answer = method(request, call);
    for await (const message of Symbol.asyncIterator in answer ? answer : [answer]) {
      yield create(output, message);
    }
  };
}

/** Reads the stream to its end, because middleware needs the end of the stream for its last steps. */
export async function onlyOf(messages: AsyncIterable<Message>): Promise<Message> {
  let only: Message | undefined;
  for await (const message of messages) {
    only = message;
  }
  return only as Message;
}
