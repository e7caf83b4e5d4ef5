import type { ServerResponse } from "node:http";
import type { AdmitCall, AdmittedCall } from "../../access/admit-call.ts";
import type { ReportCall } from "../../calls/report-call.ts";
import type { ErrorCode } from "../../errors/catalog.ts";
import { errorFromUnknown, KibitzError } from "../../errors/errors.ts";
import {
  cancelOnLeave,
  isGone,
  keepOpen,
  leaveSignal,
  type NodeRequest,
  type NodeResponse,
  type RequestHandler,
  writePart,
} from "../../http/message.ts";
import { sendProblem } from "../../http/send-problem.ts";
import type { Log } from "../../log/log.ts";
import {
  ClientDisconnected,
  contextOf,
  holdCall,
  mcpPath,
  outcomeOf,
  type RequestOutcome,
} from "../../request/context.ts";
import { isJsonObject, type Plain } from "../../text/json.ts";
import { every, now } from "../../time/time.ts";
import { type Answerers, createCaller } from "./caller.ts";
import {
  batchVersion,
  idOf,
  internalError,
  invalidRequest,
  noMessage,
  notAnswered,
  notJson,
  refusalOfBatch,
  refusalOfLongId,
  refusedAnswer,
} from "./refusals.ts";
import { createSenderCheck, type SendersOptions } from "./senders.ts";
import type { Peer } from "./server.ts";
import { tidyMessage } from "./tidy-message.ts";

interface McpEndpointOptions extends SendersOptions, Answerers {
  readonly admitCall: AdmitCall;
  /** Reads a JSON object or array. Throws a KibitzError, or ClientDisconnected if the client disconnects before the end of the body. */
  readonly readBody: (req: NodeRequest, admitted: AdmittedCall) => Promise<Plain | readonly unknown[]>;
  readonly version: string;
  readonly reportCall: ReportCall;
  readonly log: Pick<Log, "error">;
}

/** While a client waits, the idle timeout of its connection is restarted at this interval, in milliseconds. */
const keepOpenMs = 60_000;

const allow = "POST, OPTIONS";

/** A body with one of these errors is not a message. The client gets the corresponding error of JSON-RPC. */
const unreadable: readonly ErrorCode[] = ["malformed_json", "invalid_type", "out_of_range"];

/** Serves the Model Context Protocol at `POST /mcp`, without sessions. The SDK is loaded when the first message arrives. */
export function createMcpEndpoint(options: McpEndpointOptions): RequestHandler {
  const { admitCall, readBody, version } = options;
  const checkSender = createSenderCheck(options);

  async function answer(req: NodeRequest, res: NodeResponse): Promise<void> {
    const outcome = outcomeOf(req);
    cancelOnLeave(res, outcome);
    let admitted: AdmittedCall | undefined;
    try {
      checkSender(req.headers, contextOf(req).address);
      if (req.method !== "POST") {
        await admitCall(contextOf(req), outcome, "call");
        refuseMethod(req, res);
        return;
      }
      admitted = await admitCall(contextOf(req), outcome, "message");
      // A request that closes before its body is read emits no event.
      if (isGone(res)) {
        return;
      }
      const body = await readBody(req, admitted);
      if (Array.isArray(body)) {
        await answerBatch(req, res, body, admitted);
        return;
      }
      const sent = tidyMessage(body as Plain);
      const refused = refusalOfLongId(sent);
      if (refused) {
        outcome.code = "out_of_range";
        await admitted.refused(new KibitzError("out_of_range", refused.error.message));
        await sendResponse(res, Response.json(refused, { status: 400 }), outcome);
        return;
      }
      if (sent.method === "tools/call" && sent.id !== undefined) {
        // Count each call of a tool. A message without an id is a notification, which does not call a tool.
        admitted.countAsAnalysis();
      }
      await answerMessage(req, res, sent, admitted);
    } catch (thrown) {
      if (thrown instanceof ClientDisconnected || isGone(res)) {
        return;
      }
      const error = errorFromUnknown(thrown);
      if (error.code === "internal") {
        // The listener logs this error and sends the answer.
        throw thrown;
      }
      if (admitted && !outcome.hasLine) {
        await admitted.refused(error);
      }
      if (unreadable.includes(error.code)) {
        outcome.code ??= error.code;
        const code = error.code === "malformed_json" ? notJson : invalidRequest;
        const refused = Response.json(refusedAnswer(code, error.message), { status: 400 });
        await sendResponse(res, refused, outcome);
      } else {
        sendProblem(req, res, error, [...outcome.answerHeaders]);
      }
    }
  }

  /** Answers the messages one after another. Each message is counted like a request of its own. */
  async function answerBatch(
    req: NodeRequest,
    res: NodeResponse,
    messages: readonly unknown[],
    admitted: AdmittedCall,
  ): Promise<void> {
    const outcome = outcomeOf(req);
    const refused = refusalOfBatch(messages, req.headers["mcp-protocol-version"] ?? batchVersion);
    if (refused) {
      outcome.code = "malformed_http";
      await admitted.refused(new KibitzError("malformed_http", refused.error.message));
      await sendResponse(res, Response.json(refused, { status: 400 }), outcome);
      return;
    }
    const left = leaveSignal(res);
    const working = every(keepOpenMs, () => keepOpen(res));
    try {
      const answers: unknown[] = [];
      let hasLine = false;
      for (const [index, message] of messages.entries()) {
        left.throwIfAborted();
        // The errors and calls of each message are counted and logged like those of a request.
        Object.assign(outcome, { code: undefined, hasLine: false, isCounted: false });
        const own = index === 0 ? Promise.resolve(admitted) : admitCall(contextOf(req), outcome, "message");
        answers.push(...(await answersOf(req, message, own, left)));
        hasLine ||= outcome.hasLine;
      }
      outcome.hasLine = hasLine;
      const response = answers.length > 0 ? Response.json(answers) : new Response(null, { status: 202 });
      await sendResponse(res, response, outcome);
    } finally {
      working.cancel();
    }
  }

  /** Returns the answer to a message of a batch. Returns no answer for a notification. */
  async function answersOf(
    req: NodeRequest,
    message: unknown,
    admitting: Promise<AdmittedCall>,
    left: AbortSignal,
  ): Promise<readonly unknown[]> {
    const sent = isJsonObject(message) ? tidyMessage(message) : {};
    try {
      const admitted = await admitting;
      const refused = refusalOfLongId(sent);
      if (refused) {
        await admitted.refused(new KibitzError("out_of_range", refused.error.message));
        return [refused];
      }
      if (sent.method === "tools/call" && sent.id !== undefined) {
        admitted.countAsAnalysis();
      }
      const { exchange } = await import("./exchange.ts");
      const peer = peerOf(req, admitted, left, options);
      const headers = { ...req.headers, "mcp-protocol-version": batchVersion };
      const response = await exchange({ headers }, sent, peer, version, "json");
      if (response.status >= 400) {
        await peer.refused(noMessage(response.status));
      }
      await peer.counted();
      const text = await response.text();
      return text === "" ? [] : [JSON.parse(text)];
    } catch (thrown) {
      left.throwIfAborted();
      const error = errorFromUnknown(thrown);
      if (error.code === "internal") {
        options.log.error({ err: error.cause, requestId: contextOf(req).id }, "a message of a batch failed");
      }
      const code = error.code === "internal" ? internalError : notAnswered;
      return [refusedAnswer(code, error.message, idOf(sent))];
    }
  }

  async function answerMessage(
    req: NodeRequest,
    res: NodeResponse,
    sent: Plain,
    admitted: AdmittedCall,
  ): Promise<void> {
    const working = every(keepOpenMs, () => keepOpen(res));
    try {
      const { exchange } = await import("./exchange.ts");
      const peer = peerOf(req, admitted, leaveSignal(res), options);
      const response = await exchange(req, sent, peer, version);
      // If the client has disconnected, the status is an error too, but this error must not be counted.
      if (response.status >= 400 && !isGone(res)) {
        await peer.refused(noMessage(response.status));
      }
      await peer.counted();
      await sendResponse(res, response, outcomeOf(req));
    } finally {
      working.cancel();
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

function peerOf(
  req: NodeRequest,
  admitted: AdmittedCall,
  left: AbortSignal,
  { plain, rulebook, reportCall, log }: McpEndpointOptions,
) {
  const request = contextOf(req);
  const outcome = outcomeOf(req);
  const { account } = admitted;
  let counting: Promise<void> | undefined;
  return {
    left,
    hold: () => holdCall(outcome),
    callerFor(signal: AbortSignal) {
      const startedAt = now();
      return createCaller({
        plain,
        rulebook,
        context: { request, outcome, account, signal },
        check: () => admitted.check(),
        hasPlayed() {
          outcome.hasLine = true;
          const fields = { method: "PlayMoves", ...(account.key && { key: account.key.id }) };
          reportCall(request, { code: "ok", startedAt, address: account.address, fields });
        },
      });
    },
    async refused(error: KibitzError) {
      // If a call has failed, its middleware has already logged the error.
      if (error.code === "internal" && outcome.code !== "internal") {
        log.error({ err: error.cause, requestId: request.id }, "a tool failed");
      }
      // The middleware has already counted errors of calls. Count other errors of a message only once.
      if (!outcome.hasLine && counting === undefined) {
        outcome.code ??= error.code;
        counting = admitted.refused(error).then(() => {});
      }
      await counting;
    },
    /** Resolves when all reported errors are counted and the RateLimit headers contain the new values. */
    async counted() {
      await counting;
    },
  } satisfies Peer & { counted(): Promise<void> };
}

async function sendResponse(
  res: NodeResponse,
  { status, headers, body }: Response,
  { answerHeaders }: RequestOutcome,
): Promise<void> {
  if (isGone(res)) {
    await body?.cancel();
    return;
  }
  res.statusCode = status;
  for (const [name, value] of headers) {
    // HTTP/2 has no Connection header. Over HTTP/1.1, Node sets this header.
    if (name !== "connection") {
      res.setHeader(name, value);
    }
  }
  res.setHeader("Cache-Control", "no-store");
  /** The SDK returns a stream at once, but the values of the RateLimit headers are known only with the first part. */
  const completeHeaders = () => {
    for (const [name, value] of res.headersSent ? [] : answerHeaders) {
      res.setHeader(name, value);
    }
  };
  for await (const part of body ?? []) {
    completeHeaders();
    if (!(await writePart(res, part))) {
      return;
    }
  }
  if (!isGone(res)) {
    completeHeaders();
    (res as ServerResponse).end();
  }
}
