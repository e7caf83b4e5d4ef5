import type { Message } from "@bufbuild/protobuf";
import { errorFromUnknown, KibitzError } from "../../errors/errors.ts";
import { problemFromError } from "../../errors/problem.ts";
import { isGone, writePart } from "../../http/message.ts";
import { contextOf, outcomeOf } from "../../request/context.ts";
import {
  type Answer,
  accepts,
  callOf,
  eventStream,
  headersOfParts,
  type StreamAnswerOptions,
  sendHead,
} from "./call.ts";
import { createRequestReader } from "./read-request.ts";
import { kindOfRoute, type Route } from "./routes.ts";
import { createEventWriter } from "./stream-events.ts";
import { type BegunStream, peekStream } from "./streams.ts";

/** Proxies and browsers give up a connection on which nothing moves, most of them after 30 to 60 s. */
const defaultKeepAliveMs = 10_000;

/**
 * Answers with server-sent events, each named after what is chosen in its message; then `done` with the last answer
 * again, or `error` with a problem document. A reader that is slow is waited for, and the call skips states. An answer
 * that comes once is the event `done` alone.
 */
export function createStreamAnswer(route: Route, options: StreamAnswerOptions): Answer {
  const { keepAliveMs = defaultKeepAliveMs } = options;
  const readRequest = createRequestReader(route, options);
  const call = options.calls.stream(route.method);
  const write = createEventWriter(route.method);
  const isSaidOnce = kindOfRoute(route) === "answer_at_end";

  return async (req, res, entry) => {
    if (!accepts(req.headers.accept, eventStream)) {
      throw new KibitzError(
        "not_acceptable",
        `This call answers with ${eventStream}, which the Accept header excludes.`,
      );
    }
    const reading = await readRequest(req, entry);
    if (reading.kind === "left") {
      return;
    }
    let states: BegunStream<Message>;
    try {
      states = await peekStream(call(reading.message, callOf(req, res, entry, route)));
    } catch (thrown) {
      throw await reading.explain(thrown);
    }
    sendHead(res, 200, headersOfParts(`${eventStream}; charset=utf-8`), outcomeOf(req));
    let hasRoom = true;
    const keepAlive = setInterval(() => {
      // What waits for a reader says so by itself.
      if (hasRoom) {
        void writePart(res, ": keep-alive\n\n");
      }
    }, keepAliveMs);
    const say = async (event: string, data: string) => {
      hasRoom = false;
      hasRoom = await writePart(res, `event: ${event}\ndata: ${data}\n\n`);
      return hasRoom;
    };
    try {
      let last = "";
      for await (const state of states.all) {
        const event = write(state);
        if (event === undefined) {
          continue;
        }
        if (event.isAnswer) {
          last = event.data;
        }
        if (event.isAnswer && isSaidOnce) {
          continue;
        }
        if (!(await say(event.name, event.data))) {
          return;
        }
      }
      await say("done", last);
    } catch (thrown) {
      const problem = problemFromError(errorFromUnknown(thrown), contextOf(req).id);
      await say("error", JSON.stringify(problem));
    } finally {
      clearInterval(keepAlive);
      if (!isGone(res)) {
        res.end();
      }
    }
  };
}
