import type { Message } from "@bufbuild/protobuf";
import type { AdmittedCall } from "../../access/admit-call.ts";
import type { Call, Handler } from "../../calls/call.ts";
import type { Calls } from "../../calls/create-calls.ts";
import { KibitzError } from "../../errors/errors.ts";
import {
  addVary,
  isNotModified,
  leaveSignal,
  type NodeRequest,
  type NodeResponse,
  preferredType,
} from "../../http/message.ts";
import { contextOf, outcomeOf } from "../../request/context.ts";
import { after, now } from "../../time/time.ts";
import { type Framer, framersOf } from "./framers.ts";
import { createRequestReader, type RequestReaderOptions } from "./read-request.ts";
import { type Route, streamOfRoute } from "./routes.ts";
import { sendAnswer, sendEmpty } from "./send-answer.ts";

export type RouteHandler = (req: NodeRequest, res: NodeResponse, admitted: AdmittedCall) => Promise<void>;

export interface AnswerOptions extends RequestReaderOptions {
  readonly calls: Calls;
  /** The longest pause in an unfinished answer, in milliseconds. Most proxies close a silent connection after 30 to 60 s. */
  readonly heartbeatMs?: number;
}

const defaultHeartbeatMs = 10_000;

interface Representation {
  readonly framer: Framer;
  readonly route: Route;
  readonly read: ReturnType<typeof createRequestReader>;
  readonly call: Handler;
}

/** Answers in the media type that the Accept header prefers. An error before the answer becomes a problem document. */
export function createRouteHandler(
  route: Route,
  routes: readonly Route[],
  options: AnswerOptions,
): RouteHandler {
  const { heartbeatMs = defaultHeartbeatMs } = options;
  const representations = representationsOf(route, routes, options);
  const mediaTypes = representations.map(({ framer }) => framer.mediaType);

  return async (req, res, admitted) => {
    const mediaType = preferredType(req.headers.accept, mediaTypes);
    const representation = representations.find(({ framer }) => framer.mediaType === mediaType);
    if (representation === undefined) {
      const types = mediaTypes.join(" or ");
      throw new KibitzError(
        "not_acceptable",
        `This call answers with ${types}, which the Accept header excludes.`,
      );
    }
    const { framer } = representation;
    const call = callOf(req, res, admitted, representation.route);
    const { message, unreadable } = await representation.read(req, admitted, call);
    const startedAt = now();
    const messages = representation
      .call(message, { ...call, ...(unreadable && { unreadable }) })
      [Symbol.asyncIterator]();
    try {
      const first = begin(messages, framer.isWaiting);
      // If the client leaves before a framer reads its first message, nobody reads this error.
      first.catch(() => {});
      await (framer.isSlow ? settledBy(startedAt + heartbeatMs, first) : first);
      if (call.isGet) {
        addVary(res, "Authorization");
        if (isNotModified(req, call.outcome.answerHeaders.get("etag"))) {
          // The client has this answer already. Read it to its end, because the middleware then ends the call.
          while (!(await messages.next()).done) {}
          sendEmpty(res, 304, [], call.outcome);
          return;
        }
      }
      const parts = framer.frame(withFirst(first, messages), message, call.request.id);
      await sendAnswer(res, parts, framer, call, { heartbeatMs, startedAt });
    } finally {
      // The middleware ends a call only if its messages end, also if the answer has failed or nobody reads it.
      await messages.return?.();
    }
  };
}

function representationsOf(
  route: Route,
  routes: readonly Route[],
  options: AnswerOptions,
): readonly Representation[] {
  const read = createRequestReader(route, options);
  const call = options.calls.stream(route.method);
  const representations = framersOf(route).map((framer) => ({ framer, route, read, call }));
  const stream = streamOfRoute(route, routes);
  return stream ? [...representations, ...representationsOf(stream, routes, options)] : representations;
}

type Messages = AsyncIterator<Message>;

/** Waits for the first message that is not only a queue position. Rejects if an error occurs before this message. */
async function begin(
  messages: Messages,
  isWaiting: Framer["isWaiting"] = () => false,
): Promise<IteratorResult<Message>> {
  let first = await messages.next();
  while (!first.done && isWaiting(first.value)) {
    first = await messages.next();
  }
  return first;
}

/** Waits for `first`, at most until `dueAt`, a value of `now()`. Rejects with an error of `first` before this time. */
async function settledBy(dueAt: number, first: Promise<unknown>): Promise<void> {
  const { promise: due, resolve } = Promise.withResolvers<void>();
  const timer = after(Math.max(0, dueAt - now()), resolve);
  try {
    await Promise.race([first, due]);
  } finally {
    timer.cancel();
  }
}

async function* withFirst(first: Promise<IteratorResult<Message>>, messages: Messages) {
  for (let next = await first; !next.done; next = await messages.next()) {
    yield next.value;
  }
}

function callOf(
  req: NodeRequest,
  res: NodeResponse,
  { account }: AdmittedCall,
  { method, verb }: Route,
): Call {
  return {
    method,
    request: contextOf(req),
    outcome: outcomeOf(req),
    account,
    signal: leaveSignal(res),
    isGet: verb === "GET",
  };
}
