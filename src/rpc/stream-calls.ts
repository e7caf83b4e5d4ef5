import { create, type DescMethod, type DescMethodServerStreaming, type Message } from "@bufbuild/protobuf";
import type { Interceptor, StreamRequest, StreamResponse } from "@connectrpc/connect";
import { contextValuesOf, type Implementation, type LeanContext, type MethodContext } from "./calls.ts";

/** A method behind its interceptors that answers with a stream. Nothing happens before the first message is asked for. */
export type StreamCall = (request: Message, context: LeanContext) => AsyncIterable<Message>;

/** The server-streaming methods of the services, as {@link createCalls} has the unary ones. */
export function createStreamCalls(
  implementations: readonly Implementation[],
  interceptors: readonly Interceptor[],
): (method: DescMethod) => StreamCall {
  const calls = new Map<DescMethod, StreamCall>();
  for (const { service, methods } of implementations) {
    for (const method of service.methods) {
      const implementation = methods[method.localName];
      if (method.methodKind === "server_streaming" && implementation) {
        const call = createCall(
          method as DescMethodServerStreaming,
          implementation as StreamMethod,
          interceptors,
        );
        calls.set(method, call);
      }
    }
  }
  return (method) => {
    const call = calls.get(method);
    if (call === undefined) {
      throw new TypeError(`${method.parent.typeName}.${method.name} has no answer as a stream`);
    }
    return call;
  };
}

type StreamMethod = (request: Message, context: MethodContext) => AsyncIterable<Message>;

function createCall(
  method: DescMethodServerStreaming,
  implementation: StreamMethod,
  interceptors: readonly Interceptor[],
): StreamCall {
  const answer = async (request: StreamRequest): Promise<StreamResponse> => {
    const { signal, contextValues: values, service } = request;
    const answers = implementation(await onlyOne(request.message), { signal, values });
    return {
      stream: true,
      service,
      method,
      header: new Headers(),
      trailer: new Headers(),
      message: whole(method, answers),
    };
  };
  const chain = interceptors.reduceRight<(request: StreamRequest) => Promise<StreamResponse>>(
    (next, interceptor) => interceptor(next as never) as never,
    answer,
  );
  return async function* (message, context) {
    // Plain data, unlike a unary request: interceptors of streams copy it, with another message.
    const response = await chain({
      stream: true,
      service: method.parent,
      method,
      requestMethod: "POST",
      url: `/${method.parent.typeName}/${method.name}`,
      header: new Headers(),
      contextValues: contextValuesOf(context),
      signal: context.signal,
      message: streamOf(message),
    });
    yield* response.message;
  };
}

/** Interceptors see the one request as the stream that Connect makes of it. */
async function* streamOf(message: Message): AsyncGenerator<Message> {
  yield message;
}

async function onlyOne(messages: AsyncIterable<Message>): Promise<Message> {
  for await (const message of messages) {
    return message;
  }
  throw new TypeError("an interceptor swallowed the request");
}

async function* whole(
  method: DescMethodServerStreaming,
  answers: AsyncIterable<Message>,
): AsyncGenerator<Message> {
  for await (const answer of answers) {
    yield create(method.output, answer);
  }
}
