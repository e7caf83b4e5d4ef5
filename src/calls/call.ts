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

/** One call of a method, whatever its protocol. */
export interface Call {
  readonly method: DescMethod;
  readonly request: RequestContext;
  /** Header fields and the error code of the answer: written by handlers, read by the protocol and the log. */
  readonly outcome: RequestOutcome;
  /** The account of the caller. */
  readonly account: Account;
  /**
   * Aborted when the answer is no longer awaited: with a `CallerLeft` if the caller has gone, with a KibitzError
   * `deadline_exceeded` if the caller's deadline has passed.
   */
  readonly signal: AbortSignal;
  /** True if the call came by HTTP GET: caches may keep its answer. */
  readonly isGet?: boolean;
  /** The JSON texts of the items of a batch that could not be read, by index. The message has an empty item in the place of each. */
  readonly unreadable?: ReadonlyMap<number, string>;
}

/** Answers calls of one method. The answer begins when it is first read; that of a unary method has one message. */
export type Handler = (request: Message, call: Call) => AsyncIterable<Message>;

/** The handlers of a service. Their answers may leave out fields that have their default. */
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

/** A call that comes from this process, which has no limits. */
export function localCall(method: DescMethod, signal?: AbortSignal): Call {
  return { method, ...fromThisProcess(signal) };
}

/** The same without its method. */
export function fromThisProcess(signal = new AbortController().signal): Omit<Call, "method"> {
  return { request: localContext(), outcome: createOutcome(), account: localAccount, signal };
}
