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
  /** Handlers write these values. The protocol and the log read them. */
  readonly outcome: RequestOutcome;
  readonly account: Account;
  /** Aborts with ClientDisconnected if the client disconnects, and with `deadline_exceeded` after the client's deadline. */
  readonly signal: AbortSignal;
  readonly isGet?: boolean;
  /** The JSON text of each invalid item in a batch, by the index of the item. In the message, these items are empty. */
  readonly unreadable?: ReadonlyMap<number, string>;
}

/** The part of a call that is known before its message is read. */
export type ReadCall = Pick<Call, "account" | "outcome" | "signal">;

/** A handler starts when the first message of the response is read. A unary method yields exactly one message. */
export type Handler = (request: Message, call: Call) => AsyncIterable<Message>;

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

export function localCall(method: DescMethod, signal?: AbortSignal): Call {
  return { method, ...fromThisProcess(signal) };
}

export function fromThisProcess(signal = new AbortController().signal): Omit<Call, "method"> {
  return { request: localContext(), outcome: createOutcome(), account: localAccount, signal };
}
