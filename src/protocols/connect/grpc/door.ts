import type { Http2ServerResponse } from "node:http2";
import type { DescMethod, DescService } from "@bufbuild/protobuf";
import { ConnectError } from "@connectrpc/connect";
import type { Entry } from "../../../access/entrance.ts";
import type { Calls } from "../../../calls/invoke.ts";
import { KibitzError } from "../../../errors/errors.ts";
import type { BodyBudget } from "../../../http/body-budget.ts";
import { discardAfterAnswer } from "../../../http/lingering-close.ts";
import { isGone, type NodeRequest, type RequestHandler } from "../../../http/message.ts";
import type { Log } from "../../../log/log.ts";
import { contextOf, outcomeOf } from "../../../request/context.ts";
import { echo } from "../../../text/plain-text.ts";
import type { ConnectAdapter } from "../adapter.ts";
import { connectErrorFrom } from "../errors.ts";
import { type Answer, createStreamAnswer, createUnaryAnswer } from "./answers.ts";
import { type CallTerms, GrpcContext, termsOf } from "./call.ts";
import { createRequestReader, type RequestReading } from "./read-request.ts";
import { trailersFromError } from "./trailers.ts";
import { endWith, sendHead } from "./write-answer.ts";

export interface GrpcDoorOptions {
  readonly services: readonly DescService[];
  /** Those of Connect's handlers, behind the interceptors that these have. */
  readonly calls: Calls;
  /** Whether the requests of a method may be decoded in one go. */
  readonly isShort: (method: DescMethod) => boolean;
  readonly readMaxBytesOf: (method: DescMethod) => number;
  /**
   * Lets calls of a method in before anything of their bodies is read. At once where that can be said.
   * @throws KibitzError
   */
  readonly enter: (req: NodeRequest, method: DescMethod) => Entry | Promise<Entry>;
  /** What all bodies together may take while they are read. */
  readonly bodies: BodyBudget;
  /** Answers all that is not an ordinary call of gRPC. */
  readonly connect: ConnectAdapter;
  readonly log: Pick<Log, "error">;
}

/** A method that is served here. */
interface Served {
  readonly method: DescMethod;
  readonly readRequest: (req: NodeRequest) => Promise<RequestReading>;
  readonly answer: Answer;
}

/**
 * Answers the ordinary calls of gRPC without Connect's handlers: one message that is not packed, in binary, for one
 * answer or a stream of them. Whatever else comes is given to Connect, also where that shows only in the body, so that
 * every answer is the one that Connect would have made: `test/protocols/connect/grpc` compares them.
 */
export function createGrpcDoor(options: GrpcDoorOptions): RequestHandler {
  const { services, calls, isShort, readMaxBytesOf, enter, bodies, connect, log } = options;
  const served = new Map<string, Served>();
  for (const method of services.flatMap((service) => service.methods)) {
    const answer = answerOf(method, calls);
    if (answer && isShort(method)) {
      const readRequest = createRequestReader(method, readMaxBytesOf(method), bodies);
      served.set(`/${method.parent.typeName}/${method.name}`, { method, readRequest, answer });
    }
  }

  async function serve(
    call: Served,
    terms: CallTerms,
    req: NodeRequest,
    res: Http2ServerResponse,
  ): Promise<void> {
    let entry: Entry | undefined;
    try {
      const entering = enter(req, call.method);
      entry = entering instanceof Promise ? await entering : entering;
      // Nothing tells of a request that was closed while nobody read it.
      if (entering instanceof Promise && isGone(res)) {
        return;
      }
      const reading = await call.readRequest(req);
      switch (reading.kind) {
        case "request":
          await call.answer(reading.message, new GrpcContext(req, res, entry.account, terms), res, terms);
          return;
        case "unclear":
          connect(req, res, reading.read);
          return;
        case "left":
          return;
      }
    } catch (thrown) {
      // What becomes a call is counted there.
      if (entry && thrown instanceof KibitzError) {
        await entry.refused(thrown);
      }
      fail(req, res, terms, thrown);
    }
  }

  function fail(req: NodeRequest, res: Http2ServerResponse, terms: CallTerms, thrown: unknown): void {
    const request = contextOf(req);
    const outcome = outcomeOf(req);
    // What a call throws is logged by its interceptors and arrives here translated.
    if (!(thrown instanceof ConnectError || thrown instanceof KibitzError)) {
      log.error({ err: thrown, requestId: request.id, request: echo(request.path) }, "a call of gRPC failed");
    }
    if (thrown instanceof KibitzError) {
      outcome.code = thrown.code;
    }
    if (isGone(res)) {
      return;
    }
    if (!res.headersSent) {
      sendHead(res, terms, outcome);
    }
    discardAfterAnswer(req, res);
    endWith(res, trailersFromError(connectErrorFrom(thrown, request.id)));
  }

  return (req, res) => {
    const call = served.get(contextOf(req).path);
    const terms = call && termsOf(req);
    if (call === undefined || terms === undefined || !("stream" in res)) {
      return connect(req, res);
    }
    return serve(call, terms, req, res).then(() => true);
  };
}

function answerOf(method: DescMethod, calls: Calls): Answer | undefined {
  switch (method.methodKind) {
    case "unary":
      return createUnaryAnswer(method, calls.unary(method));
    case "server_streaming":
      return createStreamAnswer(method, calls.stream(method));
    default:
      return undefined;
  }
}
