import {
  create,
  type DescMethod,
  type DescMethodServerStreaming,
  type DescMethodUnary,
  type DescService,
  type Message,
} from "@bufbuild/protobuf";
import {
  type ContextValues,
  createContextValues,
  type Interceptor,
  type ServiceImpl,
  type StreamRequest,
  type StreamResponse,
  type UnaryRequest,
  type UnaryResponse,
} from "@connectrpc/connect";
import type { Account } from "../access/account.ts";
import { createOutcome, type RequestContext, type RequestOutcome } from "../request/context.ts";
import { accountKey, outcomeKey, requestKey, type UnreadableItem, unreadableKey } from "./context-keys.ts";

/** What a service method is told beside its request, whatever the protocol. */
export interface MethodContext {
  readonly signal: AbortSignal;
  readonly values: ContextValues;
}

/** Who asks, and how the call is called off. */
export interface CallContext {
  readonly request: RequestContext;
  /** Where what becomes of it is written down; nobody looks if unset. */
  readonly outcome?: RequestOutcome;
  /** Whoever asks from this process if unset. */
  readonly account?: Account;
  /** Of a batch, the items that could not be read. */
  readonly unreadable?: ReadonlyMap<number, UnreadableItem>;
  /** Aborted when the caller leaves before the answer is sent. */
  readonly signal: AbortSignal;
  /** GET where the call came by that; POST if unset. */
  readonly requestMethod?: string;
}

/** A method behind its interceptors, called without HTTP and without Connect's handlers. */
export type UnaryCall = (request: Message, context: CallContext) => Promise<Message>;

/**
 * A method behind its interceptors that answers with a stream. Nothing happens before the first message is asked for; it
 * is called off by the signal, and when its reader leaves.
 */
export type StreamCall = (request: Message, context: CallContext) => AsyncIterable<Message>;

/** A service with what answers its calls. */
export interface Implementation<S extends DescService = DescService> {
  readonly service: S;
  readonly methods: Partial<ServiceImpl<S>>;
}

/** The methods of the services, each behind its interceptors. @throws TypeError for a method that has no such answer */
export interface Calls {
  unary(method: DescMethod): UnaryCall;
  stream(method: DescMethod): StreamCall;
}

/**
 * The methods of the services, each behind the interceptors that Connect's own handlers run, too.
 *
 * Connect's handler costs 5 to 8 times a bare HTTP answer; this costs a function call for each
 * interceptor. Headers are made only if somebody looks at them.
 */
export function createCalls(
  implementations: readonly Implementation[],
  interceptors: readonly Interceptor[],
): Calls {
  const unary = new Map<DescMethod, UnaryCall>();
  const streams = new Map<DescMethod, StreamCall>();
  for (const { service, methods } of implementations) {
    for (const method of service.methods) {
      const implementation = methods[method.localName];
      if (implementation && method.methodKind === "unary") {
        unary.set(method, unaryCall(method as DescMethodUnary, implementation as UnaryMethod, interceptors));
      } else if (implementation && method.methodKind === "server_streaming") {
        streams.set(
          method,
          streamCall(method as DescMethodServerStreaming, implementation as StreamMethod, interceptors),
        );
      }
    }
  }
  return {
    unary: (method) => unary.get(method) ?? refuse(method, "unary answer"),
    stream: (method) => streams.get(method) ?? refuse(method, "answer as a stream"),
  };
}

function refuse({ parent, name }: DescMethod, what: string): never {
  throw new TypeError(`${parent.typeName}.${name} has no ${what}`);
}

/** What interceptors stand in front of, as Connect types it: unary and streaming alike. */
type Answer = (request: UnaryRequest | StreamRequest) => Promise<UnaryResponse | StreamResponse>;

/** The one way through the interceptors, outermost first. */
function behind(interceptors: readonly Interceptor[], answer: Answer): Answer {
  return interceptors.reduceRight((next, interceptor) => interceptor(next), answer);
}

type UnaryMethod = (request: Message, context: MethodContext) => Promise<Message> | Message;
type StreamMethod = (request: Message, context: MethodContext) => AsyncIterable<Message>;

function answerOnce(method: DescMethodUnary, implementation: UnaryMethod): Answer {
  return async (request) => {
    const { message } = request as UnaryRequest;
    const answer = await implementation(message, new LeanMethodContext(request));
    return new LeanResponse(method, create(method.output, answer));
  };
}

function answerInStream(method: DescMethodServerStreaming, implementation: StreamMethod): Answer {
  return async (request) => {
    const { message: messages, signal, contextValues: values, service } = request as StreamRequest;
    return {
      stream: true,
      service,
      method,
      header: new Headers(),
      trailer: new Headers(),
      message: whole(method, implementation(await onlyOne(messages), { signal, values })),
    };
  };
}

function unaryCall(
  method: DescMethodUnary,
  implementation: UnaryMethod,
  interceptors: readonly Interceptor[],
): UnaryCall {
  const answer = behind(interceptors, answerOnce(method, implementation));
  return async (message, context) => {
    const response = await answer(new LeanRequest(method, message, context));
    return (response as UnaryResponse).message;
  };
}

function streamCall(
  method: DescMethodServerStreaming,
  implementation: StreamMethod,
  interceptors: readonly Interceptor[],
): StreamCall {
  const answer = behind(interceptors, answerInStream(method, implementation));
  return async function* (message, context) {
    // Plain data, unlike a unary request: interceptors of streams copy it, with another message.
    const response = await answer({
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
    yield* (response as StreamResponse).message;
  };
}

/** What interceptors and services are to know of a call. */
export function contextValuesOf({
  request,
  outcome = createOutcome(),
  account,
  unreadable,
}: CallContext): ContextValues {
  const values = createContextValues().set(requestKey, request).set(outcomeKey, outcome);
  if (account) {
    values.set(accountKey, account);
  }
  if (unreadable) {
    values.set(unreadableKey, unreadable);
  }
  return values;
}

class LeanRequest implements UnaryRequest {
  readonly stream = false;
  readonly requestMethod: string;
  readonly method: DescMethodUnary;
  readonly message: Message;
  readonly contextValues: ContextValues;
  readonly #context: CallContext;
  #header: Headers | undefined;

  constructor(method: DescMethodUnary, message: Message, context: CallContext) {
    this.requestMethod = context.requestMethod ?? "POST";
    this.method = method;
    this.message = message;
    this.contextValues = contextValuesOf(context);
    this.#context = context;
  }

  /** A getter, because the gateway makes the signal when it is first asked for. */
  get signal(): AbortSignal {
    return this.#context.signal;
  }

  get service(): DescService {
    return this.method.parent;
  }

  get url(): string {
    return `/${this.service.typeName}/${this.method.name}`;
  }

  get header(): Headers {
    this.#header ??= new Headers();
    return this.#header;
  }
}

/** A class, because V8 is slow with a literal that has a getter. */
class LeanMethodContext implements MethodContext {
  readonly #request: UnaryRequest | StreamRequest;

  constructor(request: UnaryRequest | StreamRequest) {
    this.#request = request;
  }

  get signal(): AbortSignal {
    return this.#request.signal;
  }

  get values(): ContextValues {
    return this.#request.contextValues;
  }
}

class LeanResponse implements UnaryResponse {
  readonly stream = false;
  readonly method: DescMethodUnary;
  readonly message: Message;
  #header: Headers | undefined;
  #trailer: Headers | undefined;

  constructor(method: DescMethodUnary, message: Message) {
    this.method = method;
    this.message = message;
  }

  get service(): DescService {
    return this.method.parent;
  }

  get header(): Headers {
    this.#header ??= new Headers();
    return this.#header;
  }

  get trailer(): Headers {
    this.#trailer ??= new Headers();
    return this.#trailer;
  }
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
