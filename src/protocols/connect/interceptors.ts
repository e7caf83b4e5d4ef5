/**
 * What a call through Connect's handlers needs beside the interceptors that all protocols share (`calls/chain`). The JSON
 * gateway does the same by itself.
 */

import {
  type DescMessage,
  type DescMethod,
  isMessage,
  type Message,
  type MessageShape,
} from "@bufbuild/protobuf";
import type { HandlerContext, Interceptor, StreamRequest, UnaryRequest } from "@connectrpc/connect";
import { AnalysisService } from "../../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { GameService } from "../../../gen/chess/analysis/v1/game_service_pb.ts";
import type { Account } from "../../access/account.ts";
import { type Entrance, tellWindows } from "../../access/entrance.ts";
import type { Limits } from "../../access/limits.ts";
import { watchAnswer, watchRequest } from "../../calls/chain.ts";
import {
  accountKey,
  decodedKey,
  outcomeKey,
  requestKey,
  responseHeaderKey,
} from "../../calls/context-keys.ts";
import { messageFromPlain, plainFromMessage } from "../../calls/convert.ts";
import { plainFromReview, reviewFromPlain } from "../../calls/convert-review.ts";
import { isCounted, kindOfCall } from "../../calls/policy.ts";
import { type PreflightMessage, withSuggestion } from "../../calls/suggest.ts";
import { errorFromUnknown, KibitzError } from "../../errors/errors.ts";
import { contextOf, outcomeOf } from "../../request/context.ts";
import { connectErrorFrom } from "./errors.ts";
import type { Admittance } from "./handlers.ts";

/** Lets calls in through Connect's handlers: what they ask before they read anything of a body. */
export function createAdmittance(entrance: Entrance, limits: Limits): Admittance {
  async function letIn({ values, method, responseHeader }: HandlerContext): Promise<void> {
    const request = values.get(requestKey);
    const outcome = values.get(outcomeKey);
    try {
      const { account } = await entrance.enter(request, outcome, kindOfCall(method));
      values.set(accountKey, account);
      if (isCounted(method)) {
        // Beforehand: of the errors that Connect itself makes nobody can tell later.
        await tellWindows(limits, account, outcome);
      }
    } catch (thrown) {
      const error = errorFromUnknown(thrown);
      outcome.code = error.code;
      throw connectErrorFrom(error, request.id);
    } finally {
      for (const [name, value] of outcome.answerHeaders) {
        responseHeader.set(name, value);
      }
    }
  }

  return {
    letIn,
    async refusing(req, method, error) {
      const kind = isCounted(method) ? "limited" : "call";
      const entry = await entrance.enter(contextOf(req), outcomeOf(req), kind);
      await entry.refused(error);
    },
    countRefusal(error, { values, method }) {
      if (isCounted(method)) {
        limits.refusals.count(values.get(accountKey), error, values.get(outcomeKey).readBytes);
      }
    },
  };
}

/**
 * The outermost: errors of the catalogue become Connect's, and the headers that were added on the way go into the
 * answer.
 */
export function connectErrors(): Interceptor {
  return (next) => (sent) => {
    const request = withDecoded(sent);
    const { id } = request.contextValues.get(requestKey);
    const { answerHeaders } = request.contextValues.get(outcomeKey);
    const header = request.contextValues.get(responseHeaderKey);
    const tell = () => {
      for (const [name, value] of answerHeaders) {
        header?.set(name, value);
      }
    };
    return watchAnswer(() => next(request), {
      // Of a stream, Connect sends the headers with the first message.
      message: tell,
      failed(thrown) {
        tell();
        return connectErrorFrom(thrown, id);
      },
    });
  };
}

/** The request with the message that was decoded before Connect could: the other half of repair `decodeInPieces`. */
function withDecoded(request: UnaryRequest | StreamRequest): UnaryRequest | StreamRequest {
  if (!request.stream) {
    return request;
  }
  const { message: messages, contextValues } = request;
  const message = (async function* () {
    // What stands in its stead is read, too: with it comes what is wrong with the call.
    for await (const one of messages) {
      yield contextValues.get(decodedKey) ?? one;
    }
  })();
  return { ...request, message };
}

/** The requests for which others are suggested, as plain JSON and back. */
const suggestible: readonly Suggestible[] = [
  suggestibleOf(AnalysisService.method.evaluate.input, plainFromMessage, messageFromPlain),
  suggestibleOf(GameService.method.reviewGame.input, plainFromReview, reviewFromPlain),
];

interface Suggestible {
  /** Undefined for other messages. */
  plainOf(message: Message | undefined): Plain | undefined;
  messageOf(plain: Plain): Message;
}

type Plain = Readonly<Record<string, unknown>>;

function suggestibleOf<D extends DescMessage>(
  desc: D,
  write: (message: MessageShape<D>) => Plain,
  messageOf: (plain: Plain) => MessageShape<D>,
): Suggestible {
  return { plainOf: (message) => (isMessage(message, desc) ? write(message) : undefined), messageOf };
}

/**
 * Adds to the error of a refused analysis or review the nearest request that would be answered. The gateway suggests what its
 * callers wrote, in JSON; here that is a message.
 */
export function suggest(judge: PreflightMessage): Interceptor {
  async function explain(thrown: unknown, sent: Message | undefined, method: DescMethod, account: Account) {
    if (!(thrown instanceof KibitzError) || thrown.suggestedRequest) {
      return thrown;
    }
    for (const { plainOf, messageOf } of suggestible) {
      const plain = plainOf(sent);
      if (plain) {
        return withSuggestion(thrown, plain, (candidate) => judge(messageOf(candidate), method, account));
      }
    }
    return thrown;
  }

  return (next) => (request) => {
    const { method, contextValues } = request;
    let sent: Message | undefined;
    const watched = watchRequest(request, (message) => {
      sent = message;
    });
    return watchAnswer(() => next(watched), {
      failed: (thrown) => explain(thrown, sent, method, contextValues.get(accountKey)),
    });
  };
}
