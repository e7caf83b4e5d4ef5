/**
 * Brings a request from Node to Connect's `handlers`, and the answer back. `admittance` authenticates the caller before the body is
 * read; `read-body` reads bodies, and `check-message` refuses messages that would take long to decode; `errors` and `error-details`
 * write errors, and `refuse-call` those of requests that no handler takes. `workarounds` holds the fixes for faults of Connect.
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
  /** Called with each unpacked message before Connect decodes it. Rejects to refuse it. */
  readonly checkMessage?: CheckMessage;
  /**
   * Called before a request is refused for its HTTP method or media type. Rejects with a KibitzError if its caller must be refused
   * instead.
   */
  readonly refusing?: (req: NodeRequest, method: DescMethod, error: KibitzError) => Promise<void>;
  /** The memory for all bodies until their calls end. */
  readonly bodies: BodyBudget;
}

/** Answers a request for the path of an RPC. False for other paths. Rejects if Connect fails outside of a handler. */
export type ConnectAdapter = (req: NodeRequest, res: NodeResponse) => false | Promise<true>;

/**
 * Serves Connect, gRPC and gRPC-Web: passes requests for the paths of RPCs to Connect's handlers.
 *
 * Replaces `connectNodeAdapter` because of the faults that comments name below. It keeps the conversion of answers.
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
      // Connect answers it, though gRPC's specification and its clients need HTTP/2.
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
      // A message in a query is read as if it were posted, to unpack and check it once.
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
      // Connect compresses answers to GET by Accept-Encoding, but sets no Vary.
      addVary(res, "Authorization, Accept-Encoding");
      if (reply.status !== 200) {
        res.setHeader("Cache-Control", "no-store");
      } else if (isNotModified(req, reply.header?.get("etag"))) {
        reply = notModified(reply);
      }
    }
    // The rest of a body that was not read to its end has to be discarded: the connection goes on.
    discardAfterAnswer(req, res);
    await universalResponseToNodeResponse(cancelOnDisconnect(reply, res), res);
  }

  /** Authenticates the caller first: Connect refuses a wrong method or media type without calling the request gate. */
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
        // A client that leaves in the middle of an answer makes writing fail. That is no error, and nobody reads an answer.
        if (isGone(res)) {
          return true;
        }
        throw thrown;
      },
    );
  };
}

/** Makes the 304 of an answer: RFC 9110 section 15.4.5 wants its headers, without those that describe the body. */
function notModified({ header }: UniversalServerResponse): UniversalServerResponse {
  const kept = new Headers(header);
  for (const name of ["Content-Type", "Content-Length", "Content-Encoding"]) {
    kept.delete(name);
  }
  return { status: 304, header: kept };
}

/** The header fields for Connect. */
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

/** A signal that is aborted if the client disconnects. */
function signalOf(res: NodeResponse): AbortSignal {
  const controller = new AbortController();
  onLeave(res, () => controller.abort(new CallerLeft()));
  return controller.signal;
}
