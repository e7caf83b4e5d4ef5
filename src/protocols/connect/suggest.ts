import { type DescMessage, isMessage, type Message, type MessageShape } from "@bufbuild/protobuf";
import { AnalysisService } from "../../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { GameService } from "../../../gen/chess/analysis/v1/game_service_pb.ts";
import type { Call } from "../../calls/call.ts";
import { messageFromPlain, plainFromMessage } from "../../calls/convert.ts";
import { plainFromReview, reviewFromPlain } from "../../calls/convert-review.ts";
import { type PreflightMessage, withSuggestion } from "../../calls/suggest.ts";
import { KibitzError } from "../../errors/errors.ts";

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

/** Adds the nearest request that would be answered to the error of an analysis or review. @returns other errors unchanged */
export async function suggest(
  thrown: unknown,
  message: Message,
  { method, account }: Call,
  judge: PreflightMessage,
): Promise<unknown> {
  if (!(thrown instanceof KibitzError) || thrown.suggestedRequest) {
    return thrown;
  }
  for (const { plainOf, messageOf } of suggestible) {
    const plain = plainOf(message);
    if (plain) {
      return withSuggestion(thrown, plain, (candidate) => judge(messageOf(candidate), method, account));
    }
  }
  return thrown;
}
