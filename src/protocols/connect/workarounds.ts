import type { DescMessage } from "@bufbuild/protobuf";
import { Code, ConnectError, type HandlerContext } from "@connectrpc/connect";
import type { UniversalServerResponse } from "@connectrpc/connect/protocol";
import { ErrorInfoSchema } from "../../../gen/google/rpc/error_details_pb.ts";
import { KibitzError } from "../../errors/errors.ts";
import type { NodeRequest, NodeResponse } from "../../http/message.ts";
import { CallerLeft } from "../../request/context.ts";
import { connectErrorFrom, errorFromConnect } from "./errors.ts";
import { stateKey } from "./state.ts";

/** The longest timer of Node, 24 days. A longer one fires after a millisecond. */
const timerMaxMs = 2 ** 31 - 1;

const unitMs: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1000, m: 1, u: 1e-3, n: 1e-6 };

/**
 * Removes a deadline beyond the range of timers from the headers of an RPC. Connect starts a timer for it all the same,
 * so that `grpc-timeout: 99999999H`, which some clients send for "none", has passed at once.
 */
export function dropLongTimeout({ headers }: NodeRequest): void {
  for (const name of ["connect-timeout-ms", "grpc-timeout"]) {
    const [, digits, unit = "m"] = /^(\d{1,10})([HMSmun])?$/.exec(String(headers[name])) ?? [];
    if (Number(digits) * (unitMs[unit] ?? 1) > timerMaxMs) {
      delete headers[name];
    }
  }
}

/**
 * Ends the messages of an answer when the client disconnects. Over HTTP/2, the writer of Connect waits forever if the
 * client left with its window full.
 */
export function cancelOnDisconnect(
  reply: UniversalServerResponse,
  res: NodeResponse,
): UniversalServerResponse {
  if (reply.body === undefined) {
    return reply;
  }
  async function* bound(messages: AsyncIterable<Uint8Array>) {
    yield* messages;
  }
  const body = bound(reply.body);
  // The client is gone, so an error at the end has no reader.
  res.once("close", () => void body.return().catch(() => {}));
  return { ...reply, body };
}

/** Escapes of characters that `grpc-message` has unescaped: printable ASCII but `%`. */
const needlessEscapes = /%(2[0-46-9A-F]|[3-6][0-9A-F]|7[0-9A-E])/g;

/** Makes Connect write `grpc-message` as gRPC's specification says. Connect escapes it as a URI component. */
export function fixGrpcMessageEncoding(trailer: Headers): void {
  const set = trailer.set.bind(trailer);
  const unescaped = (value: string) =>
    value.replace(needlessEscapes, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
  Object.defineProperty(trailer, "set", {
    value: (name: string, value: string) =>
      set(name, name.toLowerCase() === "grpc-message" ? unescaped(value) : value),
  });
}

/** Connect's handlers call `abort`, which the type does not show, with every error before they write it. */
type AbortableContext = HandlerContext & { abort(reason?: unknown): void };

/**
 * Gives the errors that Connect makes itself the details that every error has. These errors bypass all interceptors,
 * but each protocol aborts the call with the error before it writes it. The signal would not do: after the deadline it
 * keeps the deadline as its reason, even if another error is written.
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
    // Errors from behind the middleware, and failed authentication, are counted and logged already.
    const isTold = outcome.hasLine || outcome.code !== undefined;
    const known = complete(reason, method.input, requestId) ?? (isTold ? undefined : causeOf(reason));
    if (known) {
      outcome.code ??= known.code;
      count(known, context);
      setAcceptEncoding(responseHeader, reason);
    }
    // Without a reason, each call that ends well would make an error with its stack.
    abort(reason ?? callEnded);
  };
}

const callEnded = new CallerLeft();

/** Connect names the codings that it accepts in the metadata of its error, but does not send them. */
function setAcceptEncoding(header: Headers, error: unknown): void {
  for (const [name, value] of error instanceof ConnectError ? error.metadata : []) {
    if (name.endsWith("accept-encoding")) {
      header.set(name, value);
    }
  }
}

/** Returns the error of our catalogue if this one had to be completed. */
function complete(error: unknown, input: DescMessage, requestId: string): KibitzError | undefined {
  // Nobody reads the answer to a cancelled call.
  if (!(error instanceof ConnectError) || error.code === Code.Canceled || hasErrorInfo(error)) {
    return undefined;
  }
  const known = errorFromConnect(error, input);
  const { code, rawMessage, message, details } = connectErrorFrom(known, requestId);
  Object.assign(error, { rawMessage, message, details: [...error.details, ...details] });
  // Connect uses `internal` also for the client's faults, such as bytes that are no message.
  if (error.code === Code.Internal) {
    Object.assign(error, { code });
  }
  return known;
}

/** Our own error that Connect wraps, such as that of a body which was refused while it was read. */
function causeOf(error: unknown): KibitzError | undefined {
  return error instanceof ConnectError && error.cause instanceof KibitzError ? error.cause : undefined;
}

function hasErrorInfo({ details }: ConnectError): boolean {
  return details.some((detail) => "desc" in detail && detail.desc.typeName === ErrorInfoSchema.typeName);
}
