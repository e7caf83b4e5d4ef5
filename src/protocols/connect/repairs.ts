import { promisify } from "node:util";
import { brotliCompress, constants } from "node:zlib";
import type { DescMessage } from "@bufbuild/protobuf";
import { Code, ConnectError, type HandlerContext } from "@connectrpc/connect";
import type { Compression, UniversalServerResponse } from "@connectrpc/connect/protocol";
import { compressionBrotli as slowBrotli } from "@connectrpc/connect-node";
import { ErrorInfoSchema } from "../../../gen/google/rpc/error_details_pb.ts";
import { KibitzError } from "../../errors/errors.ts";
import type { NodeRequest, NodeResponse } from "../../http/message.ts";
import { grpcMessage } from "../../text/plain-text.ts";
import { connectErrorFrom, errorFromConnect } from "./errors.ts";
import { stateKey } from "./state.ts";

/** What a library does wrong, and where that is worked around, below `src`. */
interface Repair {
  readonly worksAround: string;
  readonly places: readonly string[];
}

/** A library, the version of it that was looked at, and the repairs by name. */
interface RepairedLibrary {
  readonly library: string;
  readonly version: string;
  readonly repairs: Readonly<Record<string, Repair>>;
}

/**
 * Every repair of how Connect and its companions behave: what each works around, and where. `repairs.test.ts` shows
 * each fault in the bare library as it is installed, and fails on the day it is mended there: then the repair can go.
 * Each place says the name of the repair, in its code or a comment. Where another option was enough there is no repair:
 * those stand in `handlers.ts`.
 */
export const repairs: readonly RepairedLibrary[] = [
  {
    library: "@connectrpc/connect-node",
    version: "2.2.0",
    repairs: {
      guardHost: {
        worksAround: "A broken `Host` or `:authority` is thrown outside of any try and ends the process.",
        places: ["protocols/connect/adapter.ts", "http/listener/dispatch.ts"],
      },
      explainRefusals: {
        worksAround: "A wrong method, media type or version of HTTP is refused without a word.",
        places: ["protocols/connect/refuse-call.ts"],
      },
      answerFailures: {
        worksAround: "What fails outside of a handler goes to the console, and its caller waits for ever.",
        places: ["protocols/connect/adapter.ts"],
      },
      nameUnknownCalls: {
        worksAround: "A call that no service has is answered by an empty 404, in nobody's protocol.",
        places: ["protocols/connect/refuse-call.ts"],
      },
      refuseGrpcOverHttp1: {
        worksAround: "gRPC over HTTP/1.1 is answered, though its specification and its clients need HTTP/2.",
        places: ["protocols/connect/adapter.ts"],
      },
      goOnAfterTooLarge: {
        worksAround:
          "After a message that is too large, an HTTP/1.1 connection is kept and never answers again.",
        places: ["protocols/connect/adapter.ts"],
      },
      cancelWhoLeavesSending: {
        worksAround:
          "A caller who leaves while sending becomes an error without a code: a failure of the server.",
        places: ["protocols/connect/adapter.ts"],
      },
      cancelOnDisconnect: {
        worksAround:
          "The writer of a stream waits for ever where an HTTP/2 client left with its window full.",
        places: ["protocols/connect/adapter.ts"],
      },
      hearLateErrors: {
        worksAround:
          "The listener for errors of a request is taken off too early: the next error ends the process.",
        places: ["http/listener/dispatch.ts"],
      },
      varyAnswersOfGet: {
        worksAround: "Answers to GET depend on Accept-Encoding, and no Vary tells caches.",
        places: ["protocols/connect/adapter.ts"],
      },
      expectDeadlineResets: {
        worksAround: "Its gRPC client resets a stream with INTERNAL_ERROR when the deadline has passed.",
        places: ["protocols/connect/handlers.ts"],
      },
      compressionBrotli: {
        worksAround: "Answers are packed at brotli's highest quality, a hundred times slower than gzip.",
        places: ["protocols/connect/compressions.ts"],
      },
    },
  },
  {
    library: "@connectrpc/connect",
    version: "2.2.0",
    repairs: {
      allowPostForStreams: {
        worksAround: "Streams without side effects claim to allow GET, and refuse it.",
        places: ["protocols/connect/refuse-call.ts"],
      },
      askWhoIsRefused: {
        worksAround:
          "What is refused for its method or media type passes by the request gate, whoever sends it.",
        places: ["protocols/connect/adapter.ts"],
      },
      dropLongTimeout: {
        worksAround: "A deadline further away than timers count has passed at once.",
        places: ["protocols/connect/adapter.ts"],
      },
      fixGrpcMessageEncoding: {
        worksAround: "`grpc-message` is escaped as a URI component: clients that read decodeURI show `%3A`.",
        places: ["protocols/connect/handlers.ts", "protocols/connect/refuse-call.ts", "text/plain-text.ts"],
      },
      keepErrorsWellFormed: {
        worksAround: "Half of a surrogate pair in the message of an error throws where gRPC writes it.",
        places: ["protocols/connect/errors.ts", "text/plain-text.ts"],
      },
      refuseBrokenBase64: {
        worksAround: "A GET whose message is no base64 counts as a failure of the server.",
        places: ["protocols/connect/look-through.ts"],
      },
      completeErrors: {
        worksAround: "What Connect refuses by itself passes by all interceptors and has no details.",
        places: ["protocols/connect/handlers.ts"],
      },
      blameUnreadableBytes: {
        worksAround: "Bytes that are no message count as a failure of the server.",
        places: ["protocols/connect/repairs.ts"],
      },
      tellErrorsByText: {
        worksAround: "What it refuses by itself is told apart by nothing but a text.",
        places: ["protocols/connect/errors.ts"],
      },
      decodeInPieces: {
        worksAround: "A message is decoded in one go, however long that holds the thread.",
        places: ["protocols/connect/decode-body.ts", "protocols/connect/decode-batch.ts"],
      },
      refuseManyKeys: {
        worksAround: "A message may have any number of keys, and all are decoded.",
        places: ["protocols/connect/look-through.ts"],
      },
    },
  },
  {
    library: "@bufbuild/protobuf",
    version: "2.17.0",
    repairs: {
      readDecodingErrors: {
        worksAround: "Which key or value could not be decoded stands in the text of an error alone.",
        places: ["protocols/connect/errors.ts"],
      },
    },
  },
  {
    library: "@bufbuild/protovalidate",
    version: "1.3.0",
    repairs: {
      shortenLists: {
        worksAround: "Of a list that is too long, every item is checked and told.",
        places: ["calls/rules.ts"],
      },
      readLimitsFromText: {
        worksAround: "A violation tells the limit that was broken in its text alone.",
        places: ["calls/rules.ts"],
      },
    },
  },
];

/** The longest that a timer of Node counts, 24 days: it takes more for one millisecond. */
const timerMaxMs = 2 ** 31 - 1;

const unitMs: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1000, m: 1, u: 1e-3, n: 1e-6 };

/**
 * Takes a deadline that is too far away for Node out of the headers of an RPC: no call lasts that long. Connect hands
 * it to a timer as it is, and `grpc-timeout: 99999999H`, as clients write "none", was over at once.
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
 * An answer that ends with its reader: when they leave, so does what makes the messages. Over HTTP/2, Connect waits for
 * a message of more than 16 KiB to be taken also when nobody is there any more.
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

/** What Connect's handlers have beside what they show; `abort` is told every error before it is written. */
type AbortableContext = HandlerContext & { abort(reason?: unknown): void };

/**
 * Gives the errors that Connect makes itself, before and behind all interceptors, the details that every error
 * has. Of the four protocols none can say afterwards what its error was, but each aborts the call with the
 * error before it writes it: that is where it can be completed. Its signal would not do: once the
 * deadline has passed, that keeps this reason, and what is written is another one.
 */
export function completeErrors(context: HandlerContext, count: CountRefusal): void {
  const { values, method } = context;
  const { request, outcome } = values.get(stateKey);
  const requestId = request.id;
  const abortable = context as AbortableContext;
  const { abort } = abortable;
  abortable.abort = (reason) => {
    // Behind the chain, what has all details is counted, and has a line; and so is who was not let in.
    const isTold = outcome.hasLine || outcome.code !== undefined;
    const known = complete(reason, method.input, requestId) ?? (isTold ? undefined : causeOf(reason));
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
  // Repair `blameUnreadableBytes`: the protocols say which code an error of theirs has, but this one only for want of one.
  if (error.code === Code.Internal) {
    Object.assign(error, { code });
  }
  return known;
}

/** What was refused by us before the chain, as that of a body that is looked through while it is read. */
function causeOf(error: unknown): KibitzError | undefined {
  return error instanceof ConnectError && error.cause instanceof KibitzError ? error.cause : undefined;
}

function hasErrorInfo({ details }: ConnectError): boolean {
  return details.some((detail) => "desc" in detail && detail.desc.typeName === ErrorInfoSchema.typeName);
}

const compress = promisify(brotliCompress);
const params = { [constants.BROTLI_PARAM_QUALITY]: 4 };

/**
 * Connect asks for brotli's highest quality, which is for files that are packed once: an answer of 83 kB took it 108 ms,
 * and gzip 1 ms. At this one it takes about as long as gzip.
 */
export const compressionBrotli: Compression = {
  ...slowBrotli,
  compress: async (bytes) => new Uint8Array(await compress(bytes, { params })),
};
