import type { DescMethod, DescService, Message } from "@bufbuild/protobuf";
import { Code, ConnectError, createConnectRouter, type HandlerContext } from "@connectrpc/connect";
import type { UniversalHandler } from "@connectrpc/connect/protocol";
import { compressionGzip } from "@connectrpc/connect-node";
import type { Call } from "../../calls/call.ts";
import { type Calls, onlyOf } from "../../calls/create-calls.ts";
import { rpcMaxBytesOf } from "../../calls/policy.ts";
import { KibitzError } from "../../errors/errors.ts";
import type { BodyBudget } from "../../http/body-budget.ts";
import { ClientDisconnected, releaseAtEnd } from "../../request/context.ts";
import { connectErrorFrom, errorFromConnect } from "./errors.ts";
import type { createRequestGate } from "./request-gate.ts";
import { stateKey } from "./state.ts";
import { completeErrors, fixGrpcMessageEncoding } from "./workarounds.ts";

/** Discards unknown fields. Otherwise each unknown field becomes an object, and 32,000 objects block the thread for 15 ms. */
const binaryOptions = { readUnknownFields: false } as const;

type RequestGate = Pick<ReturnType<typeof createRequestGate>, "enter" | "countRefusal">;

/** Lets every call pass. This is for health checks and reflection, which need no account. */
const openToAll: RequestGate = { async enter() {}, countRefusal() {} };

interface HandlersOptions {
  readonly services: readonly DescService[];
  readonly calls: Calls;
  readonly bodies: BodyBudget;
  readonly gate?: RequestGate | undefined;
}

/** Creates a handler of Connect for each method. Each handler serves gRPC, gRPC-Web and Connect. */
export function createHandlers({
  services,
  calls,
  bodies,
  gate: { enter, countRefusal } = openToAll,
}: HandlersOptions): readonly UniversalHandler[] {
  const router = createConnectRouter({
    // By default, Connect ignores unknown fields. A client would then not notice a misspelt field.
    jsonOptions: { ignoreUnknownFields: false },
    binaryOptions,
    // Brotli is not accepted, because 39 bytes of Brotli make the decoder allocate 16 MB.
    acceptCompression: [
      {
        ...compressionGzip,
        // Connect decompresses only the messages of reflection, because all other messages are already decompressed.
        decompress: (bytes, maxBytes) =>
          bodies.inflate(bytes, () => compressionGzip.decompress(bytes, maxBytes)),
      },
    ],
    // Connect calls the request gate before it reads the body. So errors of Connect itself also get the request id.
    async requestGate(context) {
      const state = context.values.get(stateKey);
      context.responseHeader.set("X-Request-Id", state.request.id);
      completeErrors(context, countRefusal);
      fixGrpcMessageEncoding(context.responseTrailer);
      state.signal = withOwnReason(context.signal);
      await enter(context);
    },
  });

  function implementationOf(method: DescMethod) {
    const handle = calls.stream(method);
    async function* stream(sent: Message, context: HandlerContext) {
      const message = method.methodKind === "bidi_streaming" ? readable(sent, method) : sent;
      const call = callOf(context);
      const reading = handle(message, call)[Symbol.asyncIterator]();
      // If an error loses the response of Connect, nobody else ends the call.
      releaseAtEnd(call.outcome, () => void reading.return?.().catch(() => {}));
      try {
        for await (const answer of { [Symbol.asyncIterator]: () => reading }) {
          // Connect sends the headers with the first message.
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
    // By default, Connect would accept messages of 4 GiB.
    router.rpc(method, implementationOf(method) as never, { readMaxBytes: rpcMaxBytesOf(method) });
  }
  return router.handlers;
}

/** Yields the messages of a client. Throws errors of Kibitz instead of errors of Connect. */
function readable(messages: unknown, { input }: DescMethod): Message {
  async function* read() {
    try {
      yield* messages as AsyncIterable<Message>;
    } catch (thrown) {
      if (!(thrown instanceof ConnectError)) {
        throw thrown;
      }
      throw thrown.code === Code.Canceled ? new ClientDisconnected() : errorFromConnect(thrown, input);
    }
  }
  return read() as unknown as Message;
}

function callOf({ method, values }: HandlerContext): Call {
  const { request, outcome, account, signal, isGet } = values.get(stateKey);
  return { method, request, outcome, account, signal, isGet };
}

/** Replaces the abort reasons of Connect with errors that the handlers of Kibitz know. */
function withOwnReason(signal: AbortSignal): AbortSignal {
  const controller = new AbortController();
  const abort = () => {
    const { reason } = signal;
    if (reason instanceof ConnectError) {
      const late = "The deadline of the call passed before the search ended.";
      const isDeadline = reason.code === Code.DeadlineExceeded;
      controller.abort(isDeadline ? new KibitzError("deadline_exceeded", late) : new ClientDisconnected());
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
