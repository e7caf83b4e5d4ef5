import { GameService } from "../../gen/chess/analysis/v1/game_service_pb.ts";
import type { Implementation } from "../calls/call.ts";
import { type MoveReviewMessage, messageFromMoveReview, messageFromReview } from "../calls/convert-review.ts";
import type { Openings } from "../game/find-opening.ts";
import { readOpenings } from "../game/openings.ts";
import { atOnceOf, flowOfLongCall, type SearchingOptions } from "./many-searches.ts";
import { reviewGame } from "./review-game.ts";

export function createGameService({
  analyzer,
  validate,
  charge,
  access,
  beginWork,
  searchesAtOnce,
}: SearchingOptions): Implementation<typeof GameService> {
  let reading: Promise<Openings> | undefined;

  /** Reads the openings when the first review begins, because many servers never review a game. */
  async function openingsRead(): Promise<Openings> {
    reading ??= readOpenings();
    try {
      return await reading;
    } catch (error) {
      reading = undefined;
      throw error;
    }
  }

  const methods: Implementation<typeof GameService>["methods"] = {
    async *reviewGame(message, call) {
      const { account, outcome, signal } = call;
      await charge.refuseUsedUp(account);
      using _ = access.longCalls.begin(account, outcome);
      const validated = await validate.review(message, call);
      const { requests } = validated;
      const searches = requests.filter(({ position }) => !position.terminal);
      // If the game is over in its first position, nothing is searched. Count the review anyway, because the game was read.
      const first = searches[0] ?? requests[0];
      using held = new DisposableStack();
      const charged = first && (await charge.review(first, searches.length, call, held));
      const moves: MoveReviewMessage[] = [];
      const steps = reviewGame(
        validated,
        {
          analyzer,
          openings: await openingsRead(),
          flow: flowOfLongCall(call),
          searchesAtOnce: atOnceOf(account, searchesAtOnce),
          turn: beginWork(() => signal.throwIfAborted()),
          ...(charged && { chargeSearch: charged.search }),
        },
        signal,
      );
      for await (const step of steps) {
        switch (step.kind) {
          case "waiting":
            yield { event: { case: "queued", value: step.at } };
            break;
          case "move": {
            charged?.answered();
            const move = messageFromMoveReview(step.move, validated.game, step.tablebase);
            moves.push(move);
            yield { event: { case: "move", value: move } };
            break;
          }
          case "review":
            yield { event: { case: "review", value: messageFromReview(step.reviewed, moves) } };
            break;
        }
      }
    },
  };
  return { service: GameService, methods };
}
