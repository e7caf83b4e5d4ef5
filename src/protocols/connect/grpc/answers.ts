import type { Http2ServerResponse } from "node:http2";
import type { DescMethod, Message } from "@bufbuild/protobuf";
import type { StreamCall, UnaryCall } from "../../../calls/invoke.ts";
import { writePart } from "../../../http/message.ts";
import type { CallTerms, GrpcContext } from "./call.ts";
import { okTrailers } from "./trailers.ts";
import { endWith, envelopeOf, sendHead } from "./write-answer.ts";

/** Answers calls of one method. Rejects with what the call throws; the answer may have begun by then. */
export type Answer = (
  message: Message,
  context: GrpcContext,
  res: Http2ServerResponse,
  terms: CallTerms,
) => Promise<void>;

/** Answers with one message. */
export function createUnaryAnswer({ output }: DescMethod, call: UnaryCall): Answer {
  return async (message, context, res, terms) => {
    const envelope = envelopeOf(output, await call(message, context), terms);
    const last = envelope instanceof Promise ? await envelope : envelope;
    sendHead(res, terms, context.outcome);
    endWith(res, okTrailers, last);
  };
}

/** Answers with messages as they come. A reader that is slow is waited for, and the call skips states. */
export function createStreamAnswer({ output }: DescMethod, call: StreamCall): Answer {
  return async (message, context, res, terms) => {
    for await (const state of call(message, context)) {
      const envelope = await envelopeOf(output, state, terms);
      if (!res.headersSent) {
        sendHead(res, terms, context.outcome);
      }
      if (!(await writePart(res, envelope))) {
        return;
      }
    }
    if (!res.headersSent) {
      sendHead(res, terms, context.outcome);
    }
    endWith(res, okTrailers);
  };
}
