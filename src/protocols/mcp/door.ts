import type { ServerResponse } from "node:http";
import type { CallKind, Entry } from "../../access/entrance.ts";
import type { ErrorCode } from "../../errors/catalogue.ts";
import { errorFromUnknown, KibitzError } from "../../errors/errors.ts";
import {
  cutShort,
  isGone,
  keepOpen,
  type NodeRequest,
  type NodeResponse,
  onLeave,
  type RequestHandler,
} from "../../http/message.ts";
import { sendProblem } from "../../http/send-problem.ts";
import type { CallLine } from "../../log/call-line.ts";
import type { Log } from "../../log/log.ts";
import { CallerLeft, contextOf, mcpPath, outcomeOf } from "../../request/context.ts";
import type { Plain } from "./caller.ts";
import { sendResponse, webRequest } from "./exchange.ts";
import type { HttpHandler } from "./http-handler.ts";
import { type Answerers, createCaller } from "./make-caller.ts";
import {
  refusalByStatus,
  refusalInPart,
  refusalOfLongId,
  sendRefusedMessage,
  sendSpent,
  sendUnreadable,
  spentAnswer,
} from "./refusals.ts";
import { createSenderCheck, type Scheme, type SendersOptions } from "./senders.ts";
import type { ConnectedPeer, Peer } from "./server.ts";

/** The JSON object that a body is; or nobody waits for an answer any more. */
type Reading = { readonly kind: "json"; readonly sent: Plain } | { readonly kind: "left" };

export interface McpDoorOptions extends SendersOptions, Answerers {
  /** Lets requests in, before anything of their bodies is read. */
  readonly enter: (req: NodeRequest, kind: CallKind) => Promise<Entry>;
  /** What the caller's browser, if it is one, reads pages of this server by. */
  readonly schemeOf: (req: NodeRequest) => Scheme;
  /** Reads a body that is one JSON object. @throws KibitzError */
  readonly readBody: (req: NodeRequest, check: () => void) => Promise<Reading>;
  /** Of Kibitz. */
  readonly version: string;
  readonly tellCall: CallLine;
  /** Aborted when this server stops: whoever only listens is not waited for. */
  readonly stopping: AbortSignal;
  readonly log: Pick<Log, "error">;
}

/** How often a connection is told that it is not silent for nothing, in milliseconds. */
const keepOpenMs = 60_000;

/** What is read of somebody who was refused too often: most calls are shorter. */
const spentMaxBytes = 16 * 1024;

const allow = "POST, OPTIONS";

/** Its stream lasts until one of the two leaves. */
const listenMethod = "subscriptions/listen";

/** Codes of what is wrong with a body alone, which JSON-RPC has errors for. */
const unreadable: readonly ErrorCode[] = ["malformed_json", "invalid_type", "out_of_range"];

/**
 * The Model Context Protocol at `POST /mcp`: one more protocol in front of the same calls, without sessions. The SDK is
 * read when the first agent asks.
 */
export function createMcpDoor(options: McpDoorOptions): RequestHandler {
  const { enter, schemeOf, readBody, version, stopping, log } = options;
  const checkSender = createSenderCheck(options);
  let reading: Promise<HttpHandler> | undefined;
  /** What the SDK has told of last. Most of it is in the answer, and says again what the caller has sent. */
  let toldLast: Error | undefined;

  function handler(): Promise<HttpHandler> {
    reading ??= import("./http-handler.ts").then(({ createHttpHandler }) =>
      createHttpHandler(version, (error) => {
        toldLast = error;
      }),
    );
    return reading;
  }

  async function answer(req: NodeRequest, res: NodeResponse): Promise<void> {
    const outcome = outcomeOf(req);
    let entry: Entry | undefined;
    let bodyBegun = false;
    try {
      checkSender(req.headers, schemeOf(req));
      if (req.method !== "POST") {
        await enter(req, "call");
        refuseMethod(req, res);
        return;
      }
      entry = await enter(req, "message");
      if (isGone(res)) {
        return;
      }
      const known = entry;
      bodyBegun = true;
      const body = await readBody(req, () => known.check());
      if (body.kind === "left") {
        return;
      }
      const refused = refusalOfLongId(body.sent);
      if (refused) {
        const error = new KibitzError("out_of_range", refused.text);
        await entry.refused(error);
        sendRefusedMessage(res, refused, error, outcome);
        return;
      }
      if (body.sent.method === "tools/call") {
        // Every tool counts as requests do.
        entry.isLimited();
      }
      await exchange(req, res, body.sent, entry);
    } catch (thrown) {
      const error = errorFromUnknown(thrown);
      if (error.code === "internal") {
        log.error({ err: error.cause, requestId: contextOf(req).id }, "the agents' door failed");
      }
      if (res.headersSent) {
        cutShort(res);
        return;
      }
      if (entry && !outcome.hasLine) {
        await entry.refused(error);
      }
      if (entry && unreadable.includes(error.code)) {
        sendUnreadable(res, error, outcome);
      } else if (bodyBegun || error.code !== "rate_limited" || !(await answerSpent(req, res, error))) {
        sendProblem(req, res, error, [...outcome.answerHeaders]);
      }
    }
  }

  /**
   * A model is told when it may ask again, where that costs next to nothing: of a body that nobody has begun to read, which
   * is there once.
   *
   * @returns whether it was
   */
  async function answerSpent(req: NodeRequest, res: NodeResponse, error: KibitzError): Promise<boolean> {
    if (!(Number(req.headers["content-length"]) <= spentMaxBytes)) {
      return false;
    }
    try {
      const body = await readBody(req, () => {});
      const said = body.kind === "json" && spentAnswer(body.sent, error);
      if (said) {
        sendSpent(res, said, error, outcomeOf(req));
      }
      return said !== false && said !== undefined;
    } catch {
      // It was refused before it was read, and that is what its sender is told.
      return false;
    }
  }

  async function exchange(req: NodeRequest, res: NodeResponse, body: Plain, entry: Entry): Promise<void> {
    const leaving = new AbortController();
    onLeave(res, () => leaving.abort(new CallerLeft()));
    const working = setInterval(() => keepOpen(res), keepOpenMs);
    try {
      const sdk = await handler();
      const ends =
        body.method === listenMethod ? AbortSignal.any([leaving.signal, stopping]) : leaving.signal;
      const request = webRequest(req, mcpPath, ends);
      const peer: ConnectedPeer = {
        ...peerOf(req, entry, leaving.signal, options),
        isBehind: () => res.writableNeedDrain,
      };
      const response = await sdk.answer(request, body, peer);
      if (response.status >= 500) {
        log.error({ err: toldLast, requestId: contextOf(req).id }, "the SDK failed");
      }
      leaving.signal.throwIfAborted();
      // Errors of the protocol are refusals as all others, whatever their status.
      const refusal = refusalByStatus(response.status);
      await (refusal && peer.refused(refusal));
      await sendResponse(res, response, outcomeOf(req), async (part) => {
        const told = refusal === undefined && response.ok ? refusalInPart(part) : undefined;
        await (told && peer.refused(told));
      });
    } catch (thrown) {
      // Nobody is there who could be told.
      if (!leaving.signal.aborted) {
        throw thrown;
      }
    } finally {
      clearInterval(working);
    }
  }

  return (req, res) => {
    const isOurs = contextOf(req).path === mcpPath;
    return isOurs && answer(req, res).then(() => true);
  };
}

function refuseMethod(req: NodeRequest, res: NodeResponse): void {
  if (req.method === "OPTIONS") {
    res.statusCode = 204;
    res.setHeader("Allow", allow);
    res.setHeader("X-Request-Id", contextOf(req).id);
    (res as ServerResponse).end();
    return;
  }
  const detail = `This path supports ${allow}: there are no sessions to listen to or to end, each message is a request of its own.`;
  sendProblem(req, res, new KibitzError("method_not_allowed", detail), [["Allow", allow]]);
}

/** The sender of one request. */
function peerOf(
  req: NodeRequest,
  entry: Entry,
  left: AbortSignal,
  { plain, rulebook, tellCall, log }: McpDoorOptions,
): Peer {
  const request = contextOf(req);
  const outcome = outcomeOf(req);
  const { account } = entry;
  return {
    left,
    callerFor(signal) {
      const startedAt = performance.now();
      const caller = createCaller({
        plain,
        rulebook,
        context: { request, outcome, account, signal },
        check: () => entry.check(),
        asker: { account, outcome },
      });
      return {
        ...caller,
        async play(from) {
          const position = await caller.play(from);
          outcome.hasLine = true;
          const fields = { method: "PlayMoves", ...(account.key && { key: account.key.id }) };
          tellCall(request, { code: "ok", startedAt, address: account.address, fields });
          return position;
        },
      };
    },
    async refused(error) {
      // What became a call has been counted and told there.
      if (outcome.hasLine) {
        return;
      }
      outcome.code ??= error.code;
      if (error.code === "internal") {
        log.error({ err: error.cause, requestId: request.id }, "a tool failed");
      }
      await entry.refused(error);
    },
  };
}
