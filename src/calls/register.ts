import { create, type DescMethod, type Message } from "@bufbuild/protobuf";
import type { Call, Handler, Implementation } from "./call.ts";
import type { Middleware } from "./middleware.ts";

export type UnaryHandler = (request: Message, call: Call) => Promise<Message>;
export type StreamHandler = (request: Message, call: Call) => AsyncIterable<Message>;

/** The methods of all services behind their middleware. @throws TypeError for a method that has no such answer */
export interface Calls {
  unary(method: DescMethod): UnaryHandler;
  stream(method: DescMethod): StreamHandler;
}

/**
 * Wraps each method in the middleware, once. Every protocol and the command line call the same handlers.
 *
 * @param middleware outermost first
 */
export function createCalls(
  implementations: readonly Implementation[],
  middleware: readonly Middleware[],
): Calls {
  const handlers = new Map<DescMethod, Handler>();
  for (const { service, methods } of implementations) {
    for (const method of service.methods) {
      const handler = completed(method, methods[method.localName] as unknown as Handler);
      handlers.set(
        method,
        middleware.reduceRight((inner, wrap) => wrap(inner, method), handler),
      );
    }
  }
  const handlerOf = (method: DescMethod, isUnary: boolean) => {
    const handler = handlers.get(method);
    if (handler === undefined || isUnary !== (method.methodKind === "unary")) {
      const kind = isUnary ? "unary answer" : "answer as a stream";
      throw new TypeError(`${method.parent.typeName}.${method.name} has no ${kind}`);
    }
    return handler;
  };
  return {
    unary: (method) => handlerOf(method, true) as UnaryHandler,
    stream: (method) => handlerOf(method, false) as StreamHandler,
  };
}

/** Fills in the defaults of the answers. */
function completed({ methodKind, output }: DescMethod, handler: Handler): Handler {
  return methodKind === "unary"
    ? async (request, call) => create(output, await (handler(request, call) as Promise<Message>))
    : async function* (request, call): AsyncGenerator<Message> {
        for await (const message of handler(request, call) as AsyncIterable<Message>) {
          yield create(output, message);
        }
      };
}
