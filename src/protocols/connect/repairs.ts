import type { DescMessage } from "@bufbuild/protobuf";
import { base64Decode } from "@bufbuild/protobuf/wire";
import { Code, ConnectError, type HandlerContext } from "@connectrpc/connect";
import type { UniversalServerResponse } from "@connectrpc/connect/protocol";
import { ErrorInfoSchema } from "../../../gen/google/rpc/error_details_pb.ts";
import { outcomeKey, requestKey } from "../../calls/context-keys.ts";
import { KibitzError } from "../../errors/errors.ts";
import type { NodeRequest, NodeResponse } from "../../http/message.ts";
import { grpcMessage } from "../../text/plain-text.ts";
import { connectErrorFrom, errorFromConnect } from "./errors.ts";

/** The longest that a timer of Node counts, 24 days: it takes more for one millisecond. */
const timerMaxMs = 2 ** 31 - 1;

const unitMs: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1000, m: 1, u: 1e-3, n: 1e-6 };

/**
 * Takes a deadline that is too far away for Node out of the headers of an RPC: no call lasts that long. Connect hands
 * it to a timer as it is (connect 2.2.0), and `grpc-timeout: 99999999H`, as clients write "none", was over at once.
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
 * An answer that ends with its reader: when they leave, so does what makes the messages. Connect waits for a message of
 * more than 16 KiB to be taken also when nobody is there any more (connect-node 2.2.0).
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
  // What fails at its end has nobody to be told to.
  res.once("close", () => void body.return().catch(() => {}));
  return { ...reply, body };
}

/** Sees to it that the message which Connect is going to write into the trailer is written as gRPC's specification says. */
export function fixGrpcMessageEncoding(trailer: Headers): void {
  const set = trailer.set.bind(trailer);
  Object.defineProperty(trailer, "set", {
    value: (name: string, value: string) =>
      set(name, name.toLowerCase() === "grpc-message" ? grpcMessage(decodeURIComponent(value)) : value),
  });
}

/** Throws for a GET whose message is not the base64 that it says: Connect (2.2.0) would take that for a failure of its own. */
export function refuseBrokenBase64(context: HandlerContext, count: CountRefusal): void {
  const { requestMethod, url, values } = context;
  const query = requestMethod === "GET" ? new URL(url).searchParams : undefined;
  if (query?.get("base64") !== "1") {
    return;
  }
  try {
    base64Decode(query.get("message") ?? "");
  } catch (cause) {
    const error = new KibitzError(
      "malformed_http",
      "The query says base64=1, but `message` is not valid base64.",
      { cause },
    );
    values.get(outcomeKey).code = error.code;
    count(error, context);
    throw connectErrorFrom(error, values.get(requestKey).id);
  }
}

/** What Connect's handlers have beside what they show; `abort` is told every error before it is written. */
type AbortableContext = HandlerContext & { abort(reason?: unknown): void };

/**
 * Gives the errors that Connect makes itself, before and behind all interceptors, the details that every error
 * has. Of the four protocols none can say afterwards what its error was, but each aborts the call with the
 * error before it writes it (connect 2.2.0): that is where it can be completed. Its signal would not do: once the
 * deadline has passed, that keeps this reason, and what is written is another one.
 */
export function completeErrors(context: HandlerContext, count: CountRefusal): void {
  const { values, method } = context;
  const { id: requestId } = values.get(requestKey);
  const outcome = values.get(outcomeKey);
  const abortable = context as AbortableContext;
  const { abort } = abortable;
  abortable.abort = (reason) => {
    const known = complete(reason, method.input, requestId);
    if (known) {
      outcome.code ??= known.code;
      count(known, context);
    }
    abort(reason);
  };
}

/** Counts what a call was refused for before it came to the service. */
export type CountRefusal = (error: KibitzError, context: HandlerContext) => void;

/** Gives what the error means, where it had to be completed. */
function complete(error: unknown, input: DescMessage, requestId: string): KibitzError | undefined {
  // Nobody waits for the answer to a call that was cancelled.
  if (!(error instanceof ConnectError) || error.code === Code.Canceled || hasErrorInfo(error)) {
    return undefined;
  }
  const known = errorFromConnect(error, input);
  const { code, rawMessage, message, details } = connectErrorFrom(known, requestId);
  Object.assign(error, { rawMessage, message, details: [...error.details, ...details] });
  // The protocols say which code an error of theirs has; bytes that are no message are not the server's failure.
  if (error.code === Code.Internal) {
    Object.assign(error, { code });
  }
  return known;
}

function hasErrorInfo({ details }: ConnectError): boolean {
  return details.some((detail) => "desc" in detail && detail.desc.typeName === ErrorInfoSchema.typeName);
}
