import type { DescMessage } from "@bufbuild/protobuf";
import { Code, ConnectError, type HandlerContext } from "@connectrpc/connect";
import type { UniversalServerResponse } from "@connectrpc/connect/protocol";
import { ErrorInfoSchema } from "../../../gen/google/rpc/error_details_pb.ts";
import { KibitzError } from "../../errors/errors.ts";
import { isGone, type NodeRequest, type NodeResponse, piecesOf } from "../../http/message.ts";
import { ClientDisconnected } from "../../request/context.ts";
import { connectErrorFrom, errorFromConnect } from "./errors.ts";
import { stateKey } from "./state.ts";

/** The longest timer of Node in milliseconds, about 24 days. A longer timer would fire after one millisecond. */
const timerMaxMs = 2 ** 31 - 1;

const unitMs: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1000, m: 1, u: 1e-3, n: 1e-6 };

/** Some clients send `grpc-timeout: 99999999H` for no deadline. Connect's timer for this deadline would fire at once. */
export function dropLongTimeout({ headers }: NodeRequest): void {
  for (const name of ["connect-timeout-ms", "grpc-timeout"]) {
    const [, digits, unit = "m"] = /^(\d{1,10})([HMSmun])?$/.exec(String(headers[name])) ?? [];
    if (Number(digits) * (unitMs[unit] ?? 1) > timerMaxMs) {
      delete headers[name];
    }
  }
}

/**
 * Ends the answer when the client disconnects. Over HTTP/2, Connect would wait forever if the flow-control window is full.
 * Disposes of `hold` when the handler of the call has ended.
 */
export function cancelOnDisconnect(
  reply: UniversalServerResponse,
  res: NodeResponse,
  hold: Disposable,
): UniversalServerResponse {
  if (reply.body === undefined) {
    hold[Symbol.dispose]();
    return reply;
  }
  async function* bound(messages: AsyncIterable<Uint8Array>) {
    for await (const message of messages) {
      yield* piecesOf(message);
    }
  }
  const body = bound(reply.body);
  const end = () => {
    body
      .return()
      // Ignore errors, because nobody reads them after the disconnect.
      .catch(() => {})
      .then(() => hold[Symbol.dispose]())
      // The listener logs the error.
      .catch((error: unknown) => res.emit("error", error));
  };
  if (isGone(res)) {
    end();
  } else {
    res.once("close", end);
  }
  return { ...reply, body };
}

/** Matches escape sequences of printable ASCII characters other than `%`. In `grpc-message`, these are not needed. */
const needlessEscapes = /%(2[0-46-9A-F]|[3-6][0-9A-F]|7[0-9A-E])/g;

/** Corrects the escape sequences of `grpc-message`. Connect escapes this header as a URI component, which is wrong. */
export function fixGrpcMessageEncoding(trailer: Headers): void {
  const set = trailer.set.bind(trailer);
  const unescaped = (value: string) =>
    value.replace(needlessEscapes, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
  Object.defineProperty(trailer, "set", {
    value: (name: string, value: string) =>
      set(name, name.toLowerCase() === "grpc-message" ? unescaped(value) : value),
  });
}

/** Connect calls `abort` with each error before it writes the error. The public type lacks this method. */
type AbortableContext = HandlerContext & { abort(reason?: unknown): void };

/**
 * Adds details to errors that Connect itself creates. Interceptors do not see these errors.
 * The abort signal is not enough: it keeps its first error, such as the deadline, but Connect may send a later error.
 */
export function completeErrors(
  context: HandlerContext,
  count: (error: KibitzError, context: HandlerContext) => void,
): void {
  const { values, method, responseHeader } = context;
  const { request, outcome } = values.get(stateKey);
  const requestId = request.id;
  const abortable = context as AbortableContext;
  const { abort } = abortable;
  abortable.abort = (reason) => {
    // The middleware and the authentication have already counted and logged their errors.
    const isReported = outcome.hasLine || outcome.code !== undefined;
    const known = complete(reason, method.input, requestId) ?? (isReported ? undefined : causeOf(reason));
    if (known) {
      outcome.code ??= known.code;
      count(known, context);
      setAcceptEncoding(responseHeader, reason);
    }
    // Without a reason, Connect would create an error with a stack trace for each successful call.
    abort(reason ?? callEnded);
  };
}

const callEnded = new ClientDisconnected();

/** Sends the header with the accepted codings. Connect adds this header to its error but never sends the header. */
function setAcceptEncoding(header: Headers, error: unknown): void {
  for (const [name, value] of error instanceof ConnectError ? error.metadata : []) {
    if (name.endsWith("accept-encoding")) {
      header.set(name, value);
    }
  }
}

/** Adds details to an error of Connect. Returns the same error as a KibitzError, or undefined if the error needs no details. */
function complete(error: unknown, input: DescMessage, requestId: string): KibitzError | undefined {
  if (!(error instanceof ConnectError) || error.code === Code.Canceled || hasErrorInfo(error)) {
    return undefined;
  }
  const known = errorFromConnect(error, input);
  const { code, rawMessage, message, details } = connectErrorFrom(known, requestId);
  Object.assign(error, { rawMessage, message, details: [...error.details, ...details] });
  // Connect also uses the code `internal` for errors of the client, such as bytes that are not a message.
  if (error.code === Code.Internal) {
    Object.assign(error, { code });
  }
  return known;
}

/** Returns the KibitzError that Connect has wrapped in its own error, for example an error from reading the body. */
function causeOf(error: unknown): KibitzError | undefined {
  return error instanceof ConnectError && error.cause instanceof KibitzError ? error.cause : undefined;
}

function hasErrorInfo({ details }: ConnectError): boolean {
  return details.some((detail) => "desc" in detail && detail.desc.typeName === ErrorInfoSchema.typeName);
}
