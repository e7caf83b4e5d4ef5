/**
 * Passes requests from Node to Connect's `handlers`. Before that, `admittance` authenticates the caller by the headers,
 * `read-body` reads the body, and `check-message` bounds it. `refuse-call` rejects the requests that no handler takes.
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
  /** Called before a wrong HTTP method or media type is rejected. Rejects if the caller must be rejected instead. */
  readonly refusing?: (req: NodeRequest, method: DescMethod, error: KibitzError) => Promise<void>;
  readonly bodies: BodyBudget;
}

/** Answers a request for the path of an RPC. Returns false for other paths. Rejects if Connect fails outside of a handler. */
export type ConnectAdapter = (req: NodeRequest, res: NodeResponse) => false | Promise<true>;

/** Replaces `connectNodeAdapter` because of the bugs that the comments below name, and keeps its conversion of answers. */
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
      // Connect would answer, although gRPC's specification and its clients require HTTP/2.
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
      // A message in a query is read as if posted, so that it is decompressed and checked only once.
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
    // The unread rest of a body must be discarded, because the connection is used again.
    discardAfterAnswer(req, res);
    await universalResponseToNodeResponse(cancelOnDisconnect(reply, res), res);
  }

  /** Authenticates first: Connect rejects a wrong method or media type without calling the request gate. */
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
        // Writing fails if the client disconnects, which is not an error.
        if (isGone(res)) {
          return true;
        }
        throw thrown;
      },
    );
  };
}

/** The 304 lacks the headers that describe the body (RFC 9110 section 15.4.5). */
function notModified({ header }: UniversalServerResponse): UniversalServerResponse {
  const kept = new Headers(header);
  for (const name of ["Content-Type", "Content-Length", "Content-Encoding"]) {
    kept.delete(name);
  }
  return { status: 304, header: kept };
}

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

function signalOf(res: NodeResponse): AbortSignal {
  const controller = new AbortController();
  onLeave(res, () => controller.abort(new CallerLeft()));
  return controller.signal;
}
