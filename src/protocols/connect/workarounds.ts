import type { DescMessage } from "@bufbuild/protobuf";
import { Code, ConnectError, type HandlerContext } from "@connectrpc/connect";
import type { UniversalServerResponse } from "@connectrpc/connect/protocol";
import { ErrorInfoSchema } from "../../../gen/google/rpc/error_details_pb.ts";
import { KibitzError } from "../../errors/errors.ts";
import type { NodeRequest, NodeResponse } from "../../http/message.ts";
import { CallerLeft } from "../../request/context.ts";
import { connectErrorFrom, errorFromConnect } from "./errors.ts";
import { stateKey } from "./state.ts";

/** The longest timer of Node in milliseconds: 24 days. A longer timer would fire after a millisecond. */
const timerMaxMs = 2 ** 31 - 1;

const unitMs: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1000, m: 1, u: 1e-3, n: 1e-6 };

/**
 * Removes a deadline beyond the range of timers, such as `grpc-timeout: 99999999H`, sent by some clients for "none". Connect
 * would start a timer for it, which would fire at once.
 */
export function dropLongTimeout({ headers }: NodeRequest): void {
  for (const name of ["connect-timeout-ms", "grpc-timeout"]) {
    const [, digits, unit = "m"] = /^(\d{1,10})([HMSmun])?$/.exec(String(headers[name])) ?? [];
    if (Number(digits) * (unitMs[unit] ?? 1) > timerMaxMs) {
      delete headers[name];
    }
  }
}

/** Ends an answer at a disconnect: over HTTP/2, Connect's writer would wait forever if the flow-control window is full. */
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
  // Nobody reads an error after the disconnect.
  res.once("close", () => void body.return().catch(() => {}));
  return { ...reply, body };
}

/** Escape sequences that `grpc-message` does not need: those of printable ASCII characters except `%`. */
const needlessEscapes = /%(2[0-46-9A-F]|[3-6][0-9A-F]|7[0-9A-E])/g;

/** By default, Connect escapes `grpc-message` as a URI component, against gRPC's specification. */
export function fixGrpcMessageEncoding(trailer: Headers): void {
  const set = trailer.set.bind(trailer);
  const unescaped = (value: string) =>
    value.replace(needlessEscapes, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
  Object.defineProperty(trailer, "set", {
    value: (name: string, value: string) =>
      set(name, name.toLowerCase() === "grpc-message" ? unescaped(value) : value),
  });
}

/** Connect's handlers call `abort`, which the public type lacks, with every error before they write it. */
type AbortableContext = HandlerContext & { abort(reason?: unknown): void };

/**
 * Gives Connect's own errors details. They bypass interceptors, but each protocol calls `abort` with them before it writes. The
 * signal is not enough: after the deadline, its reason stays the deadline, even if another error is written.
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

/** Connect names the codings that it accepts in its error's metadata, but does not send them. */
function setAcceptEncoding(header: Headers, error: unknown): void {
  for (const [name, value] of error instanceof ConnectError ? error.metadata : []) {
    if (name.endsWith("accept-encoding")) {
      header.set(name, value);
    }
  }
}

/** Adds details to an error of Connect. Returns the error of Kibitz's catalog, or undefined if nothing had to be added. */
function complete(error: unknown, input: DescMessage, requestId: string): KibitzError | undefined {
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
