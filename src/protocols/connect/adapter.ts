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
  leaveSignal,
  type NodeRequest,
  type NodeResponse,
} from "../../http/message.ts";
import { sendProblem } from "../../http/send-problem.ts";
import { contextOf, holdCall, outcomeOf } from "../../request/context.ts";
import type { CheckMessage } from "./check-message.ts";
import { readBody } from "./read-body.ts";
import { methodsOf, type Refusal, refusalFromReply, refusalOfQuery } from "./refuse-call.ts";
import { valuesFor } from "./state.ts";
import { cancelOnDisconnect, dropLongTimeout } from "./workarounds.ts";

interface ConnectAdapterOptions {
  readonly handlers: readonly UniversalHandler[];
  /** Called with each decompressed message before Connect decodes the message. Rejects if the message must not be decoded. */
  readonly checkMessage?: CheckMessage;
  /** Called before a wrong HTTP method or media type is rejected. If this function rejects, its error is sent instead. */
  readonly refusing?: (req: NodeRequest, method: DescMethod, error: KibitzError) => Promise<void>;
  readonly bodies: BodyBudget;
}

/** Answers a request to the path of an RPC. Returns false for other paths. Rejects if Connect fails outside a handler. */
type ConnectAdapter = (req: NodeRequest, res: NodeResponse) => false | Promise<true>;

/** Replaces Connect's `connectNodeAdapter`, which has bugs. Comments in this file describe the bugs. */
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
      // Reject gRPC over HTTP/1.1, because the specification of gRPC requires HTTP/2. Connect would answer such a request.
      const error = new KibitzError(
        "unsupported_media_type",
        "gRPC needs HTTP/2. Over HTTP/1.1, use gRPC-Web or Connect: Content-Type: application/json.",
      );
      await refuse(handler, req, res, { error, headers: [] });
      return;
    }
    const { method } = handler;
    const signal = leaveSignal(res);
    const values = valuesFor(req, signal);
    const header = headersOf(req);
    const isQuery = req.method === "GET" && methodsOf(handler).includes("GET");
    const query = isQuery ? new URL(`http://localhost${req.url}`).searchParams : undefined;
    const unreadable = query && refusalOfQuery(handler, query);
    if (unreadable) {
      await refuse(handler, req, res, unreadable);
      return;
    }
    const check = (message: Uint8Array) => checkMessage(message, method, header, values);
    using hold = new DisposableStack();
    hold.use(holdCall(outcomeOf(req)));
    let reply = await handler({
      httpVersion: req.httpVersion,
      // A message in a query is passed on as a POST, so that it is decompressed and checked only once.
      method: query ? "POST" : (req.method ?? ""),
      url: `http://localhost${handler.requestPath}`,
      header,
      body: readBody(req, method, header, bodies, check, query),
      signal,
      contextValues: values,
    });
    const refusal = refusalFromReply(reply, handler, req);
    if (refusal) {
      await refuse(handler, req, res, refusal);
      return;
    }
    if (req.method === "GET") {
      // Connect compresses answers to GET requests if Accept-Encoding allows this, but does not set the Vary header.
      addVary(res, "Authorization, Accept-Encoding");
      if (reply.status !== 200) {
        res.setHeader("Cache-Control", "no-store");
      } else if (isNotModified(req, reply.header?.get("etag"))) {
        reply = notModified(reply);
      }
    }
    // Discard the unread rest of the body, because the connection will be used again.
    discardAfterAnswer(req, res);
    await universalResponseToNodeResponse(cancelOnDisconnect(reply, res, hold.move()), res);
  }

  /** Connect would reject a wrong HTTP method or media type without authenticating the caller. */
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
        // Writing fails if the client has disconnected. This is not an error.
        if (isGone(res)) {
          return true;
        }
        throw thrown;
      },
    );
  };
}

/** Returns a 304 response without the headers that describe a body (RFC 9110 section 15.4.5). */
function notModified({ header }: UniversalServerResponse): UniversalServerResponse {
  const kept = new Headers(header);
  for (const name of ["Content-Type", "Content-Length", "Content-Encoding"]) {
    kept.delete(name);
  }
  return { status: 304, header: kept };
}

/** Connect reads only these headers. A copy of 110 others would need 30 kB of heap until the call ends. */
const readByConnect = /^(accept-encoding$|content-|connect-|grpc-)/;

function headersOf(req: NodeRequest): Headers {
  dropLongTimeout(req);
  const header = new Headers();
  for (const [name, value] of Object.entries(req.headers)) {
    if (value !== undefined && readByConnect.test(name)) {
      header.append(name, String(value));
    }
  }
  const charset = /^(application\/grpc[^;]*?)\s*;\s*charset="?utf-?8"?\s*$/i.exec(
    header.get("content-type") ?? "",
  );
  if (charset?.[1] !== undefined) {
    // Some clients and proxies add this parameter. Connect would accept the type only without it.
    header.set("content-type", charset[1]);
  }
  return header;
}
