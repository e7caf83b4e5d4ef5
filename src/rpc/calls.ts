import {
  create,
  type DescMethod,
  type DescMethodUnary,
  type DescService,
  type Message,
} from "@bufbuild/protobuf";
import {
  type ContextValues,
  createContextValues,
  type Interceptor,
  type ServiceImpl,
  type UnaryRequest,
  type UnaryResponse,
} from "@connectrpc/connect";
import type { Account } from "../access/account.ts";
import type { Caller } from "../caller.ts";
import { accountKey, callerKey, type UnreadableItem, unreadableKey } from "./context-keys.ts";

/** What a service method is told beside its request, whatever the door. */
export interface MethodContext {
  readonly signal: AbortSignal;
  readonly values: ContextValues;
}

/** A method behind its interceptors, called without HTTP and without Connect's handlers. */
export type UnaryCall = (request: Message, context: LeanContext) => Promise<Message>;

/** Who calls, and how the call is called off. */
export interface LeanContext {
  readonly caller: Caller;
  /** Whoever asks from this process if unset. */
  readonly account?: Account;
  /** Of a batch, the items that could not be read. */
  readonly unreadable?: ReadonlyMap<number, UnreadableItem>;
  readonly signal: AbortSignal;
  /** GET where the call came by that; POST if unset. */
  readonly requestMethod?: string;
}

/** A service with what answers its calls. */
export interface Implementation<S extends DescService = DescService> {
  readonly service: S;
  readonly methods: Partial<ServiceImpl<S>>;
}

/**
 * The unary methods of the services, each behind the interceptors that Connect's own doors run, too.
 *
 * Connect's handler costs 5 to 8 times a bare HTTP answer; this costs a function call for each
 * interceptor. Headers are made only if somebody looks at them.
 */
export function createCalls(
  implementations: readonly Implementation[],
  interceptors: readonly Interceptor[],
): (method: DescMethod) => UnaryCall {
  const calls = new Map<DescMethod, UnaryCall>();
  for (const { service, methods } of implementations) {
    for (const method of service.methods) {
      const implementation = methods[method.localName];
      if (method.methodKind === "unary" && implementation) {
        calls.set(method, createCall(method as DescMethodUnary, implementation as UnaryMethod, interceptors));
      }
    }
  }
  return (method) => {
    const call = calls.get(method);
    if (call === undefined) {
      throw new TypeError(`${method.parent.typeName}.${method.name} has no unary answer`);
    }
    return call;
  };
}

type UnaryMethod = (request: Message, context: MethodContext) => Promise<Message> | Message;

function createCall(
  method: DescMethodUnary,
  implementation: UnaryMethod,
  interceptors: readonly Interceptor[],
): UnaryCall {
  const answer = async (request: UnaryRequest): Promise<UnaryResponse> => {
    const message = await implementation(request.message, new LeanMethodContext(request));
    return new LeanResponse(method, create(method.output, message));
  };
  const chain = interceptors.reduceRight<(request: UnaryRequest) => Promise<UnaryResponse>>(
    (next, interceptor) => interceptor(next as never) as never,
    answer,
  );
  return async (message, context) => {
    const response = await chain(new LeanRequest(method, message, context));
    return response.message;
  };
}

/** What interceptors and services are to know of a call. */
export function contextValuesOf({ caller, account, unreadable }: LeanContext): ContextValues {
  const values = createContextValues().set(callerKey, caller);
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
  readonly #context: LeanContext;
  #header: Headers | undefined;

  constructor(method: DescMethodUnary, message: Message, context: LeanContext) {
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
  readonly #request: UnaryRequest;

  constructor(request: UnaryRequest) {
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
