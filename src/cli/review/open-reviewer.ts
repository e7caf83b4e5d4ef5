import { create } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import type { AnalysisRequest } from "../../../gen/chess/analysis/v1/analysis_pb.ts";
import { type GameReview, GameReviewSchema } from "../../../gen/chess/analysis/v1/game_pb.ts";
import { GameService } from "../../../gen/chess/analysis/v1/game_service_pb.ts";
import { judgeRequest } from "../../analysis/judge-request.ts";
import { requestFromMessage } from "../../calls/convert.ts";
import { messageFromMoveReview, messageFromReview } from "../../calls/convert-review.ts";
import type { Game } from "../../game/game.ts";
import { readOpenings } from "../../game/openings.ts";
import type { PgnSource } from "../../game/pgn-error.ts";
import type { CommandInput } from "../command.ts";
import { openLocal } from "../open-local.ts";
import { openRemote } from "../open-remote.ts";
import { type RemoteAddress, remoteAddressOf } from "../remote-address.ts";
import { reviewHere } from "./review-game.ts";

/** Who reviews games: this process, or a running service. */
export interface Reviewer extends AsyncDisposable {
  /**
   * @param source of the game
   * @param onPosition is told of each position that is done
   * @throws KibitzError; the reason of the command's signal
   */
  review(source: PgnSource, game: Game, onPosition: () => void): Promise<GameReview>;
}

/** @param asked of every position. @throws KibitzError where that cannot be answered, as far as it is known here */
export function openReviewer(input: CommandInput, asked: AnalysisRequest): Promise<Reviewer> {
  const address = remoteAddressOf(input);
  return address ? openThere(address, asked, input) : openHere(asked, input);
}

async function openHere(message: AnalysisRequest, { host, signal, values }: CommandInput): Promise<Reviewer> {
  const asked = requestFromMessage(message);
  const local = await openLocal(host, signal, { stores: true, values });
  try {
    // What is wrong with what is asked of all games is no game's own affair.
    await judgeRequest(asked, local.engines);
    const tools = { local, openings: await readOpenings(local.beginWork()) };
    return {
      async review(_, game, onPosition) {
        const reviewed = await reviewHere(game, asked, tools, signal, onPosition);
        const moves = reviewed.review.moves.map((move) => messageFromMoveReview(move, game));
        return create(GameReviewSchema, messageFromReview(reviewed, moves));
      },
      [Symbol.asyncDispose]: () => local[Symbol.asyncDispose](),
    };
  } catch (thrown) {
    await local[Symbol.asyncDispose]();
    throw thrown;
  }
}

async function openThere(
  address: RemoteAddress,
  { depth, nodes, engine, path }: AnalysisRequest,
  { signal }: CommandInput,
): Promise<Reviewer> {
  const remote = openRemote(address);
  const { reviewGame } = createClient(GameService, remote.transport);
  const asked = {
    path,
    ...(depth !== undefined && { depth }),
    ...(nodes !== undefined && { nodes }),
    ...(engine !== undefined && { engine }),
  };
  return {
    async review({ text }, _, onPosition) {
      let review: GameReview | undefined;
      for await (const { event } of reviewGame({ ...asked, pgn: text }, { signal })) {
        review = event.case === "review" ? event.value : review;
        onPosition();
      }
      if (review === undefined) {
        throw new Error("the review ended without its end");
      }
      return review;
    },
    async [Symbol.asyncDispose]() {
      remote[Symbol.dispose]();
    },
  };
}
