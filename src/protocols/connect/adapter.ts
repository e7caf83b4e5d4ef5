/**
 * Passes requests from Node to Connect's `handlers`, and sends their answers. `admittance` authenticates the caller before the
 * body is read. `read-body` reads bodies, and `check-message` rejects messages that would take long to decode. `errors` and
 * `error-details` write errors, and `refuse-call` writes the errors of requests that no handler takes. `workarounds` contains
 * fixes for bugs in Connect.
 */

import type { DescMethod } from "@bufbuild/protobuf";
import type { UniversalHandler, UniversalServerResponse } from "@connectrpc/connect/protocol";
import { universalResponseToNodeResponse } from "@connectrpc/connect-node";
import { errorFromUnknown, KibitzError } from "../../errors/errors.ts";
import type { BodyBudget } from "../../http/body-budget.ts";
import { discardAfterAnswer } from "../../http/lingering-close.ts";
import {
  addVary,
  cancelOnLeave,
  isGone,
  isNotModified,
  type NodeRequest,
  type NodeResponse,
  onLeave,
} from "../../http/message.ts";
import { sendProblem } from "../../http/send-problem.ts";
import { CallerLeft, contextOf, outcomeOf } from "../../request/context.ts";
import type { CheckMessage } from "./check-message.ts";
import { readBody } from "./read-body.ts";
import { methodsOf, type Refusal, refusalFromReply, refusalOfQuery } from "./refuse-call.ts";
import { valuesFor } from "./state.ts";
import { cancelOnDisconnect, dropLongTimeout } from "./workarounds.ts";

interface ConnectAdapterOptions {
  /** The `handlers` of a Connect router, one for each method. */
  readonly handlers: readonly UniversalHandler[];
  /** Called with each decompressed message before Connect decodes it. Rejects if Connect must not decode the message. */
  readonly checkMessage?: CheckMessage;
  /**
   * Called before a request is rejected for its HTTP method or media type. Rejects with a KibitzError if the caller must be
   * rejected instead.
   */
  readonly refusing?: (req: NodeRequest, method: DescMethod, error: KibitzError) => Promise<void>;
  /** The memory budget for all bodies until their calls end. */
  readonly bodies: BodyBudget;
}

/** Answers a request for the path of an RPC. Returns false for other paths. Rejects if Connect fails outside of a handler. */
export type ConnectAdapter = (req: NodeRequest, res: NodeResponse) => false | Promise<true>;

/**
 * Serves Connect, gRPC and gRPC-Web: passes requests for the paths of RPCs to Connect's handlers.
 *
 * It replaces `connectNodeAdapter` because of the bugs that the comments below name, and keeps its conversion of answers.
 */
export function createConnectAdapter({
  handlers,
  checkMessage = async () => {},
  refusing = async () => {},
  bodies,
}: ConnectAdapterOptions): ConnectAdapter {
  const handlerByPath = new Map(handlers.map((handler) => [handler.requestPath, handler]));

  async function answer(handler: UniversalHandler, req: NodeRequest, res: NodeResponse): Promise<void> {
    cancelOnLeave(res, outcomeOf(req));
    if (contextOf(req).protocol === "grpc" && req.httpVersionMajor < 2) {
      // Connect would answer this request, although gRPC's specification and its clients require HTTP/2.
      const error = new KibitzError(
        "unsupported_media_type",
        "gRPC needs HTTP/2. Over HTTP/1.1, use gRPC-Web or Connect: Content-Type: application/json.",
      );
      await refuse(handler, req, res, { error, headers: [] });
      return;
    }
    const { method } = handler;
    const values = valuesFor(req);
    const header = headersOf(req);
    const isQuery = req.method === "GET" && methodsOf(handler).includes("GET");
    const query = isQuery ? new URL(`http://localhost${req.url}`).searchParams : undefined;
    const unreadable = query && refusalOfQuery(handler, query);
    if (unreadable) {
      await refuse(handler, req, res, unreadable);
      return;
    }
    const check = (message: Uint8Array) => checkMessage(message, method, header, values);
    let reply = await handler({
      httpVersion: req.httpVersion,
      // A message in a query is read as if it had been posted, so that it is decompressed and checked only once.
      method: query ? "POST" : (req.method ?? ""),
      url: `http://localhost${handler.requestPath}`,
      header,
      body: readBody(req, method, header, bodies, check, query),
      signal: signalOf(res),
      contextValues: values,
    });
    const refusal = refusalFromReply(reply, handler, req);
    if (refusal) {
      await refuse(handler, req, res, refusal);
      return;
    }
    if (req.method === "GET") {
      // Connect compresses answers to GET according to Accept-Encoding, but sets no Vary header.
      addVary(res, "Authorization, Accept-Encoding");
      if (reply.status !== 200) {
        res.setHeader("Cache-Control", "no-store");
      } else if (isNotModified(req, reply.header?.get("etag"))) {
        reply = notModified(reply);
      }
    }
    // If a body was not read to its end, its rest must be discarded, because the connection is used again.
    discardAfterAnswer(req, res);
    await universalResponseToNodeResponse(cancelOnDisconnect(reply, res), res);
  }

  /**
   * Rejects a request. The caller is authenticated first, because Connect rejects a wrong method or media type without calling
   * the request gate.
   */
  async function refuse(
    { method }: UniversalHandler,
    req: NodeRequest,
    res: NodeResponse,
    { error, headers }: Refusal,
  ): Promise<void> {
    const refusal = await refusing(req, method, error).then(
      () => error,
      (thrown: unknown) => errorFromUnknown(thrown),
    );
    const { answerHeaders } = outcomeOf(req);
    sendProblem(req, res, refusal, refusal === error ? [...answerHeaders, ...headers] : [...answerHeaders]);
  }

  return (req, res) => {
    const handler = handlerByPath.get(contextOf(req).path);
    if (handler === undefined) {
      return false;
    }
    return answer(handler, req, res).then(
      () => true,
      (thrown: unknown) => {
        // Writing fails if the client disconnects in the middle of an answer. This is not an error, and nobody reads an answer.
        if (isGone(res)) {
          return true;
        }
        throw thrown;
      },
    );
  };
}

/**
 * Returns the 304 for an answer. It has the headers of the answer, except those that describe the body (RFC 9110 section 15.4.5).
 */
function notModified({ header }: UniversalServerResponse): UniversalServerResponse {
  const kept = new Headers(header);
  for (const name of ["Content-Type", "Content-Length", "Content-Encoding"]) {
    kept.delete(name);
  }
  return { status: 304, header: kept };
}

/** Returns the headers of a request for Connect. */
function headersOf(req: NodeRequest): Headers {
  dropLongTimeout(req);
  const header = new Headers();
  for (const [name, value] of Object.entries(req.headers)) {
    if (value !== undefined && !name.startsWith(":")) {
      header.append(name, String(value));
    }
  }
  return header;
}

/** Returns a signal that is aborted if the client disconnects. */
function signalOf(res: NodeResponse): AbortSignal {
  const controller = new AbortController();
  onLeave(res, () => controller.abort(new CallerLeft()));
  return controller.signal;
}
