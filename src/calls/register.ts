import { create, type DescMethod, type Message } from "@bufbuild/protobuf";
import type { Call, Handler, Implementation } from "./call.ts";
import type { Middleware } from "./middleware.ts";

export type UnaryHandler = (request: Message, call: Call) => Promise<Message>;

/** The methods of all services with their middleware. A method with no handler, or with no unary answer, throws a TypeError. */
export interface Calls {
  unary(method: DescMethod): UnaryHandler;
  /** Returns the handler of any method. The answer of a unary method is a stream of one message. */
  stream(method: DescMethod): Handler;
}

/** Wraps each method in the middleware, outermost first. All protocols and the command line call the same handlers. */
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

/** Fills in the default values of the answers. */
function completed({ output }: DescMethod, method: Implemented): Handler {
  return async function* (request, call) {
    const answer = method(request, call);
    for await (const message of Symbol.asyncIterator in answer ? answer : [answer]) {
      yield create(output, message);
    }
  };
}

/** Reads the answer to its end, because middleware finishes its work there. */
export async function onlyOf(messages: AsyncIterable<Message>): Promise<Message> {
  let only: Message | undefined;
  for await (const message of messages) {
    only = message;
  }
  return only as Message;
}
