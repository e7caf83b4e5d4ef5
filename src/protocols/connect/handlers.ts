/** Connect's handlers for all methods, each for gRPC, gRPC-Web and Connect. */

import type { DescMethod, DescService, Message } from "@bufbuild/protobuf";
import { Code, ConnectError, createConnectRouter, type HandlerContext } from "@connectrpc/connect";
import type { UniversalHandler } from "@connectrpc/connect/protocol";
import { compressionGzip } from "@connectrpc/connect-node";
import type { Call } from "../../calls/call.ts";
import { rpcMaxBytesOf } from "../../calls/policy.ts";
import { type Calls, onlyOf } from "../../calls/register.ts";
import { KibitzError } from "../../errors/errors.ts";
import type { BodyBudget } from "../../http/body-budget.ts";
import { CallerLeft } from "../../request/context.ts";
import type { createAdmittance } from "./admittance.ts";
import { connectErrorFrom, errorFromConnect } from "./errors.ts";
import { stateKey } from "./state.ts";
import { completeErrors, fixGrpcMessageEncoding } from "./workarounds.ts";

/**
 * Fields that are not known are ignored as protobuf wants it, and not kept: each would be an object, and 32,000 of them
 * held the thread for 15 ms.
 */
const binaryOptions = { readUnknownFields: false } as const;

type Admittance = Pick<ReturnType<typeof createAdmittance>, "admit" | "countRefusal">;

/** For health checks and reflection, which need no account. */
const openToAll: Admittance = { async admit() {}, countRefusal() {} };

interface HandlersOptions {
  readonly services: readonly DescService[];
  readonly calls: Calls;
  readonly bodies: BodyBudget;
  readonly admittance?: Admittance | undefined;
}

export function createHandlers({
  services,
  calls,
  bodies,
  admittance: { admit, countRefusal } = openToAll,
}: HandlersOptions): readonly UniversalHandler[] {
  const router = createConnectRouter({
    // By default, fields that are not known are ignored, and a typing error would go unseen.
    jsonOptions: { ignoreUnknownFields: false },
    binaryOptions,
    // No brotli: 39 bytes of it make the decoder allocate 16 MB.
    acceptCompression: [
      {
        ...compressionGzip,
        // Messages of calls come unpacked: only requests of reflection are left to inflate.
        decompress: (bytes, maxBytes) =>
          bodies.inflate(bytes, () => compressionGzip.decompress(bytes, maxBytes)),
      },
    ],
    // Before anything is read, so that Connect's own errors carry the request id and the details, too.
    async requestGate(context) {
      context.responseHeader.set("X-Request-Id", context.values.get(stateKey).request.id);
      completeErrors(context, countRefusal);
      fixGrpcMessageEncoding(context.responseTrailer);
      await admit(context);
    },
  });

  function implementationOf(method: DescMethod) {
    const handle = calls.stream(method);
    async function* stream(sent: Message, context: HandlerContext) {
      const message = method.methodKind === "bidi_streaming" ? readable(sent, method) : sent;
      const call = callOf(context);
      try {
        for await (const answer of handle(message, call)) {
          // Connect sends the header fields with the first message.
          setAnswerHeaders(context, call);
          yield answer;
        }
      } catch (thrown) {
        throw connectErrorFrom(thrown, call.request.id);
      } finally {
        setAnswerHeaders(context, call);
      }
    }
    const unary = (sent: Message, context: HandlerContext) => onlyOf(stream(sent, context));
    return method.methodKind === "unary" ? unary : stream;
  }

  for (const method of services.flatMap((service) => service.methods)) {
    // Connect's own limit is 4 GiB.
    router.rpc(method, implementationOf(method) as never, { readMaxBytes: rpcMaxBytesOf(method) });
  }
  return router.handlers;
}

/** The messages of a client, whose errors become Kibitz's: they are read within the handler. */
function readable(messages: unknown, { input }: DescMethod): Message {
  async function* read() {
    try {
      yield* messages as AsyncIterable<Message>;
    } catch (thrown) {
      if (!(thrown instanceof ConnectError)) {
        throw thrown;
      }
      throw thrown.code === Code.Canceled ? new CallerLeft() : errorFromConnect(thrown, input);
    }
  }
  return read() as unknown as Message;
}

function callOf({ method, values, signal }: HandlerContext): Call {
  const { request, outcome, account, isGet } = values.get(stateKey);
  return { method, request, outcome, account, signal: withOwnReason(signal), isGet };
}

/** The same signal with the reasons that handlers know. Connect aborts with errors of its own: that of the deadline, and what it writes. */
function withOwnReason(signal: AbortSignal): AbortSignal {
  const controller = new AbortController();
  const abort = () => {
    const { reason } = signal;
    if (reason instanceof ConnectError) {
      const late = "The deadline of the call passed before the search ended.";
      const isDeadline = reason.code === Code.DeadlineExceeded;
      controller.abort(isDeadline ? new KibitzError("deadline_exceeded", late) : new CallerLeft());
    } else {
      controller.abort(reason);
    }
  };
  if (signal.aborted) {
    abort();
  } else {
    signal.addEventListener("abort", abort, { once: true });
  }
  return controller.signal;
}

function setAnswerHeaders({ responseHeader }: HandlerContext, { outcome }: Call): void {
  for (const [name, value] of outcome.answerHeaders) {
    responseHeader.set(name, value);
  }
}
