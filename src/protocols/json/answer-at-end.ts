import type { ServerResponse } from "node:http";
import type { Message } from "@bufbuild/protobuf";
import { errorFromUnknown, KibitzError } from "../../errors/errors.ts";
import { problemFromError } from "../../errors/problem.ts";
import {
  isGone,
  keepOpen,
  type NodeRequest,
  type NodeResponse,
  preferredType,
  writePart,
} from "../../http/message.ts";
import { contextOf, outcomeOf } from "../../request/context.ts";
import { createStreamAnswer } from "./answer-stream.ts";
import {
  type Answer,
  callOf,
  eventStream,
  headersOfParts,
  jsonLines,
  type StreamAnswerOptions,
  sendHead,
} from "./call.ts";
import { createRequestReader } from "./read-request.ts";
import type { Route } from "./routes.ts";
import { createEventWriter } from "./stream-events.ts";
import { peekStream } from "./streams.ts";

const json = "application/json";

/** How often a connection is told that it is not silent for nothing, in milliseconds. */
const keepOpenMs = 60_000;
const partBytes = 64 * 1024;

/**
 * Answers with the last message of a stream as one JSON object; where Accept asks for all messages, with server-sent
 * events, or with a line each: `{"move": {…}}`, the last one the answer or `{"problem": {…}}`.
 */
export function createAnswerAtEnd(route: Route, options: StreamAnswerOptions): Answer {
  const readRequest = createRequestReader(route, options);
  const call = options.calls.stream(route.method);
  const write = createEventWriter(route.method);
  const answerWithEvents = createStreamAnswer(route, options);

  async function sendWhole(req: NodeRequest, res: NodeResponse, messages: AsyncIterable<Message>) {
    let last: Message | undefined;
    const working = setInterval(() => keepOpen(res), keepOpenMs);
    try {
      for await (const message of messages) {
        last = message;
      }
    } finally {
      clearInterval(working);
    }
    const event = last && write(last);
    if (!event?.isAnswer) {
      throw new Error(`${route.method} ended without its answer`);
    }
    const bytes = Buffer.from(`${event.data}\n`);
    const headers = ["Content-Type", `${json}; charset=utf-8`, "Content-Length", String(bytes.length)];
    sendHead(res, 200, [...headers, "Cache-Control", "no-store"], outcomeOf(req));
    // Hundreds of kilobytes in one part would have to be taken in the time that others have for a few.
    for (let at = 0; at < bytes.length; at += partBytes) {
      if (!(await writePart(res, bytes.subarray(at, at + partBytes)))) {
        return;
      }
    }
    (res as ServerResponse).end();
  }

  async function sendLines(req: NodeRequest, res: NodeResponse, messages: AsyncIterable<Message>) {
    const { all } = await peekStream(messages);
    sendHead(res, 200, headersOfParts(jsonLines), outcomeOf(req));
    try {
      for await (const message of all) {
        const event = write(message);
        if (event && !(await writePart(res, `{"${event.name}":${event.data}}\n`))) {
          return;
        }
      }
    } catch (thrown) {
      const problem = problemFromError(errorFromUnknown(thrown), contextOf(req).id);
      await writePart(res, `${JSON.stringify({ problem })}\n`);
    }
    if (!isGone(res)) {
      (res as ServerResponse).end();
    }
  }

  return async (req, res, entry) => {
    const type = preferredType(req.headers.accept, [json, eventStream, jsonLines]);
    if (type === undefined) {
      throw new KibitzError(
        "not_acceptable",
        `This call answers with ${json}, ${eventStream} or ${jsonLines}; the Accept header excludes all of them.`,
      );
    }
    if (type === eventStream) {
      await answerWithEvents(req, res, entry);
      return;
    }
    const reading = await readRequest(req, entry);
    if (reading.kind === "left") {
      return;
    }
    const messages = call(reading.message, callOf(req, res, entry, route));
    try {
      await (type === jsonLines ? sendLines : sendWhole)(req, res, messages);
    } catch (thrown) {
      throw await reading.explain(thrown);
    }
  };
}
