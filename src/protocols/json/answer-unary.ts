import type { Message } from "@bufbuild/protobuf";
import { KibitzError } from "../../errors/errors.ts";
import { addVary, isNotModified } from "../../http/message.ts";
import { outcomeOf } from "../../request/context.ts";
import { type Answer, accepts, callOf, send, type UnaryAnswerOptions } from "./call.ts";
import { createMessageWriter } from "./codec/write-message.ts";
import { createRequestReader } from "./read-request.ts";
import type { Route } from "./routes.ts";

/** Answers with one JSON object on one line. */
export function createUnaryAnswer(route: Route, options: UnaryAnswerOptions): Answer {
  const readRequest = createRequestReader(route, options);
  const call = options.calls.unary(route.method);
  const write = createMessageWriter(route.method.output);
  const mayBeKept = route.verb === "GET";

  return async (req, res, entry) => {
    if (!accepts(req.headers.accept, "application/json")) {
      throw new KibitzError(
        "not_acceptable",
        "This call answers with application/json, which the Accept header excludes.",
      );
    }
    const reading = await readRequest(req, entry);
    if (reading.kind === "left") {
      return;
    }
    let answer: Message;
    try {
      answer = await call(reading.message, callOf(req, res, entry, route));
    } catch (thrown) {
      throw await reading.explain(thrown);
    }
    const outcome = outcomeOf(req);
    if (mayBeKept) {
      addVary(res, "Authorization");
      if (isNotModified(req, outcome.answerHeaders.get("etag"))) {
        send(res, 304, [], outcome);
        return;
      }
    }
    const text = `${write(answer)}\n`;
    const length = String(Buffer.byteLength(text));
    const kept = outcome.answerHeaders.has("cache-control") ? [] : ["Cache-Control", "no-store"];
    send(res, 200, ["Content-Type", jsonMediaType, "Content-Length", length, ...kept], outcome, text);
  };
}

const jsonMediaType = "application/json; charset=utf-8";
