import type { DescMessage } from "@bufbuild/protobuf";
import { Code, ConnectError, type HandlerContext } from "@connectrpc/connect";
import type { UniversalServerResponse } from "@connectrpc/connect/protocol";
import { ErrorInfoSchema } from "../../../gen/google/rpc/error_details_pb.ts";
import { KibitzError } from "../../errors/errors.ts";
import type { NodeRequest, NodeResponse } from "../../http/message.ts";
import { CallerLeft } from "../../request/context.ts";
import { connectErrorFrom, errorFromConnect } from "./errors.ts";
import { stateKey } from "./state.ts";

/** The longest timer of Node in milliseconds, which is 24 days. A longer timer would fire after a millisecond. */
const timerMaxMs = 2 ** 31 - 1;

const unitMs: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1000, m: 1, u: 1e-3, n: 1e-6 };

/**
 * Removes a deadline that exceeds the range of timers from the headers of an RPC. Connect would still start a timer for it. A
 * deadline of `grpc-timeout: 99999999H`, which some clients send for "none", would then pass at once.
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
 * Ends the messages of an answer when the client disconnects. Over HTTP/2, Connect's writer waits forever if the client
 * disconnects while its flow-control window is full.
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
  // The client has disconnected, so an error at the end has no reader.
  res.once("close", () => void body.return().catch(() => {}));
  return { ...reply, body };
}

/** Escape sequences that `grpc-message` does not need: those of printable ASCII characters except `%`. */
const needlessEscapes = /%(2[0-46-9A-F]|[3-6][0-9A-F]|7[0-9A-E])/g;

/** Makes Connect encode `grpc-message` according to gRPC's specification. By default, Connect escapes it as a URI component. */
export function fixGrpcMessageEncoding(trailer: Headers): void {
  const set = trailer.set.bind(trailer);
  const unescaped = (value: string) =>
    value.replace(needlessEscapes, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
  Object.defineProperty(trailer, "set", {
    value: (name: string, value: string) =>
      set(name, name.toLowerCase() === "grpc-message" ? unescaped(value) : value),
  });
}

/** A context of Connect's handlers. They call `abort`, which the public type lacks, with every error before they write it. */
type AbortableContext = HandlerContext & { abort(reason?: unknown): void };

/**
 * Gives Connect's own errors the details that every error of Kibitz has. These errors bypass all interceptors, but each protocol
 * aborts the call with the error before it writes it. The signal is not enough: after the deadline, its reason stays the
 * deadline, even if another error is written.
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
    // Errors from behind the middleware and failed authentications are already counted and logged.
    const isTold = outcome.hasLine || outcome.code !== undefined;
    const known = complete(reason, method.input, requestId) ?? (isTold ? undefined : causeOf(reason));
    if (known) {
      outcome.code ??= known.code;
      count(known, context);
      setAcceptEncoding(responseHeader, reason);
    }
    // Without a reason, Connect would create an error with a stack trace for each call that ends well.
    abort(reason ?? callEnded);
  };
}

const callEnded = new CallerLeft();

/**
 * Sets the header with the codings that Connect accepts. Connect names them in the metadata of its error, but does not send them.
 */
function setAcceptEncoding(header: Headers, error: unknown): void {
  for (const [name, value] of error instanceof ConnectError ? error.metadata : []) {
    if (name.endsWith("accept-encoding")) {
      header.set(name, value);
    }
  }
}

/** Adds details to an error of Connect. Returns the error of Kibitz's catalogue, or undefined if nothing had to be added. */
function complete(error: unknown, input: DescMessage, requestId: string): KibitzError | undefined {
  // Nobody reads the answer to a cancelled call.
  if (!(error instanceof ConnectError) || error.code === Code.Canceled || hasErrorInfo(error)) {
    return undefined;
  }
  const known = errorFromConnect(error, input);
  const { code, rawMessage, message, details } = connectErrorFrom(known, requestId);
  Object.assign(error, { rawMessage, message, details: [...error.details, ...details] });
  // Connect also uses `internal` for mistakes of the client, such as bytes that are not a message.
  if (error.code === Code.Internal) {
    Object.assign(error, { code });
  }
  return known;
}

/** Returns Kibitz's own error that Connect has wrapped, such as that of a body that was rejected while it was read. */
function causeOf(error: unknown): KibitzError | undefined {
  return error instanceof ConnectError && error.cause instanceof KibitzError ? error.cause : undefined;
}

function hasErrorInfo({ details }: ConnectError): boolean {
  return details.some((detail) => "desc" in detail && detail.desc.typeName === ErrorInfoSchema.typeName);
}
