import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { batch, signal } from "@preact/signals";
import type { Queued } from "../../../gen/chess/analysis/v1/analysis_pb.ts";
import type { GameReview, MoveReview } from "../../../gen/chess/analysis/v1/game_pb.ts";
import {
  type ReviewGameRequest,
  ReviewGameRequestSchema,
} from "../../../gen/chess/analysis/v1/game_service_pb.ts";
import { keepAsking, type Wait } from "../client/keep-asking.ts";
import { client } from "../client/the-client.ts";
import { type PlayedGame, playedGame } from "./played-game.ts";

/** How far a review is. */
export type Progress =
  | { readonly kind: "none" }
  | { readonly kind: "running"; readonly queued: Queued | undefined }
  /** The service does not answer, or has said to wait; the page asks again after the wait. */
  | { readonly kind: "waiting"; readonly wait: Wait }
  | { readonly kind: "stopped" }
  | { readonly kind: "failed"; readonly error: unknown }
  | { readonly kind: "done"; readonly review: GameReview };

export const progress = signal<Progress>({ kind: "none" });
/** The last request, whether it was answered or not. */
export const asked = signal<ReviewGameRequest | undefined>(undefined);
/** The game that is reviewed. */
export const game = signal<PlayedGame | undefined>(undefined);
/** The moves that are reviewed so far, from the first on. */
export const explained = signal<readonly MoveReview[]>([]);

let running: AbortController | undefined;

/** Reviews a game in the place of the one before. Never rejects: what becomes of it stands in {@link progress}. */
export async function review(init: MessageInitShape<typeof ReviewGameRequestSchema>): Promise<void> {
  running?.abort();
  const controller = new AbortController();
  running = controller;
  const { signal: stopped } = controller;
  const request = create(ReviewGameRequestSchema, init);
  batch(() => {
    asked.value = request;
    game.value = playedGame(request.pgn ?? "");
    explained.value = [];
    progress.value = { kind: "running", queued: undefined };
  });
  const onWait = (wait: Wait) => {
    progress.value = { kind: "waiting", wait };
  };
  const messages = keepAsking(() => client.games.reviewGame(request, { signal: stopped }), {
    signal: stopped,
    onWait,
  });
  try {
    for await (const { event } of messages) {
      switch (event.case) {
        case "queued":
          progress.value = { kind: "running", queued: event.value };
          break;
        case "move":
          noteMove(event.value);
          break;
        case "review":
          batch(() => {
            explained.value = event.value.moves;
            progress.value = { kind: "done", review: event.value };
          });
      }
    }
  } catch (error) {
    if (running === controller) {
      progress.value = stopped.aborted ? { kind: "stopped" } : { kind: "failed", error };
    }
  }
}

/** Ends the review that is under way; what is known of its moves stays. */
export function stop(): void {
  running?.abort();
}

/** Asked again after a lost connection, the service begins with the first move. */
function noteMove(move: MoveReview): void {
  batch(() => {
    if (move.ply > explained.value.length) {
      explained.value = [...explained.value, move];
    }
    if (progress.value.kind !== "running" || progress.value.queued) {
      progress.value = { kind: "running", queued: undefined };
    }
  });
}
