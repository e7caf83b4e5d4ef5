import type {
  DescMethod,
  DescMethodBiDiStreaming,
  DescMethodServerStreaming,
  DescMethodUnary,
  DescService,
  Message,
  MessageInitShape,
  MessageShape,
} from "@bufbuild/protobuf";
import { type Account, localAccount } from "../access/account.ts";
import { createOutcome, localContext, type RequestContext, type RequestOutcome } from "../request/context.ts";

export interface Call {
  readonly method: DescMethod;
  readonly request: RequestContext;
  /** Headers and error code of the answer. Handlers write them; the protocol and the log read them. */
  readonly outcome: RequestOutcome;
  readonly account: Account;
  /** Aborted when nobody waits for the answer: with CallerLeft, or `deadline_exceeded` if the caller's deadline has passed. */
  readonly signal: AbortSignal;
  /** True if the call came by HTTP GET, so that caches may keep its answer. */
  readonly isGet?: boolean;
  /** The JSON of batch items that could not be read, by index. The message has empty items in their place. */
  readonly unreadable?: ReadonlyMap<number, string>;
}

/** A handler begins its work when the answer is first read. The answer of a unary method has one message. */
export type Handler = (request: Message, call: Call) => AsyncIterable<Message>;

/** The handlers of a service. Their answers may omit fields that have their default value. */
export interface Implementation<S extends DescService = DescService> {
  readonly service: S;
  readonly methods: { readonly [Name in keyof S["method"]]: MethodHandler<S["method"][Name]> };
}

type MethodHandler<M extends DescMethod> =
  M extends DescMethodUnary<infer I, infer O>
    ? (request: MessageShape<I>, call: Call) => Promise<MessageInitShape<O>>
    : M extends DescMethodServerStreaming<infer I, infer O>
      ? (request: MessageShape<I>, call: Call) => AsyncIterable<MessageInitShape<O>>
      : M extends DescMethodBiDiStreaming<infer I, infer O>
        ? (requests: AsyncIterable<MessageShape<I>>, call: Call) => AsyncIterable<MessageInitShape<O>>
        : never;

/** A call that comes from this process and has no limits. */
export function localCall(method: DescMethod, signal?: AbortSignal): Call {
  return { method, ...fromThisProcess(signal) };
}

export function fromThisProcess(signal = new AbortController().signal): Omit<Call, "method"> {
  return { request: localContext(), outcome: createOutcome(), account: localAccount, signal };
}
