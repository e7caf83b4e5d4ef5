import { create, equals, type JsonObject } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { batch, computed, effect, type ReadonlySignal, signal, untracked } from "@preact/signals";
import {
  type Queued,
  type Score,
  ScoreSchema,
  StopReason,
} from "../../../gen/chess/analysis/v1/analysis_pb.ts";
import {
  type EvaluateResponse,
  EvaluateResponseSchema,
} from "../../../gen/chess/analysis/v1/analysis_service_pb.ts";
import type { GameReview, MoveReview } from "../../../gen/chess/analysis/v1/game_pb.ts";
import {
  type ReviewGameRequest,
  ReviewGameRequestSchema,
} from "../../../gen/chess/analysis/v1/game_service_pb.ts";
import { ProblemSchema } from "../../../gen/chess/analysis/v1/problem_pb.ts";
import { winPercentOfCp } from "../../../src/chess/score.ts";
import { standardStartCp } from "../../../src/game/accuracy.ts";
import type { Client } from "../client/client.ts";
import { keepAsking, type Wait } from "../client/keep-asking.ts";
import { problemOf } from "../client/problem.ts";
import { pliesOfRequests, rateLimitsFrom, reviewPliesMaxOf } from "../client/rate-limits.ts";
import type { GameState } from "../game/create-game.ts";
import { exportedPgn, reviewedGame } from "../game/exported-pgn.ts";
import { type GameNode, mainlineOf, remove } from "../game/game.ts";
import { gameFromPgn, pgnOfGame } from "../game/pgn.ts";
import type { RequestState } from "../request/request.ts";
import { settingsFromPlain } from "../request/settings.ts";
import { createPractice } from "./create-practice.ts";
import { nextJudged } from "./judged.ts";

type Progress =
  | { readonly kind: "none" }
  | { readonly kind: "running"; readonly queued: Queued | undefined }
  /** The page repeats the request at the end of `wait`. */
  | { readonly kind: "waiting"; readonly wait: Wait }
  | { readonly kind: "stopped" }
  | { readonly kind: "failed"; readonly error: unknown }
  | { readonly kind: "done"; readonly review: GameReview };

type Direction = "before" | "behind";

export type ReviewState = ReturnType<typeof createReview>;

interface Deps {
  readonly game: GameState;
  readonly client: Client;
  readonly request: RequestState;
}

/** The service does not evaluate the standard start position, but assumes this score. */
const standardStart = create(ScoreSchema, {
  value: { case: "cp", value: standardStartCp },
  winPercent: winPercentOfCp(standardStartCp),
});

export const linesMax = 3;

/** Returns the beginning of a game with this number of plies. Undefined if the game has no more plies, or if it has no beginning. */
function beginningOf(pgn: string, plies: number): string | undefined {
  const reading = plies > 0 ? gameFromPgn(pgn) : undefined;
  if (reading?.kind !== "game") {
    return undefined;
  }
  const { children = [] } = mainlineOf(reading.game)[plies] ?? {};
  return children.length > 0 ? pgnOfGame(children.reduce(remove, reading.game)) : undefined;
}

/** Starts a review when `game.reviewed` changes, and also after a reload of the page. */
export function createReview({ game, client, request }: Deps) {
  const progress = signal<Progress>({ kind: "none" });
  const all = signal<readonly MoveReview[]>([]);
  const asked = signal<ReviewGameRequest | undefined>(undefined);
  let running = new AbortController();

  /** The ids of the nodes of the reviewed moves. */
  const ids = computed(() => {
    let id = "";
    return all.value.map(({ move }) => {
      id = `${id} ${move?.uci ?? ""}`.trim();
      return id;
    });
  });
  /** The start and the reviewed moves that are still in the main line. */
  const line = computed(() => {
    const reviewed = new Set(ids.value);
    return mainlineOf(game.game.value).filter(({ id }) => id === "" || reviewed.has(id));
  });
  const moves = computed(() => all.value.slice(0, line.value.length - 1));
  const isStale = computed(() => progress.value.kind === "done" && moves.value.length < all.value.length);
  const reviewOf = ({ id, ply }: Pick<GameNode, "id" | "ply">) =>
    ids.value[ply - 1] === id ? all.value[ply - 1] : undefined;
  function scoreOf(node: Pick<GameNode, "id" | "ply">): Score | undefined {
    const state = progress.value;
    if (node.ply === 0) {
      return state.kind === "done" ? (state.review.startEvaluation ?? standardStart) : undefined;
    }
    return reviewOf(node)?.evaluation;
  }
  /** The last reviewed node on the path to the position on the board. */
  const branch = computed(() => game.path.value.findLast((node) => reviewOf(node)) ?? game.game.value.start);

  function requestOf(pgn: string, settings = request.search.peek()): ReviewGameRequest {
    const { multipv = 1, movetimeMs, searchMoves, options, ...search } = settings;
    return create(ReviewGameRequestSchema, {
      ...search,
      pgn,
      ...(multipv > 1 && { lines: Math.min(multipv, linesMax) }),
    });
  }

  /** Returns an error if the game is too long for the plan. The service would say so only after the wait for the rate limit. */
  function tooLong(pgn: string): ConnectError | undefined {
    const limits = client.account.limits.peek();
    const suggested = limits && beginningOf(pgn, reviewPliesMaxOf(limits));
    if (suggested === undefined) {
      return undefined;
    }
    const isKeyless = client.key.peek() === "" && client.account.issuesKeys.peek();
    const value = create(ProblemSchema, {
      code: "upgrade_needed",
      title: "Upgrade needed",
      nextAction: isKeyless ? "get_api_key" : "send_suggested_request",
      errors: [{ pointer: "/pgn" }],
      suggestedRequest: { pgn: suggested },
    });
    return new ConnectError(value.title, Code.PermissionDenied, undefined, [{ desc: ProblemSchema, value }]);
  }

  /** Replaces the running review. Never rejects: {@link progress} contains the error. */
  async function run(asking: ReviewGameRequest): Promise<void> {
    running.abort();
    const controller = new AbortController();
    running = controller;
    const { signal: stopped } = controller;
    batch(() => {
      asked.value = asking;
      all.value = [];
      progress.value = { kind: "running", queued: undefined };
    });
    const refused = tooLong(asking.pgn ?? "");
    if (refused) {
      progress.value = { kind: "failed", error: refused };
      return;
    }
    try {
      const answer = keepAsking(() => client.games.reviewGame(asking, { signal: stopped }), {
        signal: stopped,
        onWait(wait) {
          progress.value = { kind: "waiting", wait };
        },
      });
      for await (const { event } of answer) {
        switch (event.case) {
          case "queued":
            progress.value = { kind: "running", queued: event.value };
            break;
          case "move":
            takeMove(event.value);
            break;
          case "review":
            batch(() => {
              all.value = event.value.moves;
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

  /** Ignores a move that is already reviewed, because the service sends all moves again after a lost connection. */
  function takeMove(move: MoveReview): void {
    batch(() => {
      if (move.ply > all.peek().length) {
        all.value = [...all.peek(), move];
      }
      progress.value = { kind: "running", queued: undefined };
    });
  }

  function forget(): void {
    running.abort();
    running = new AbortController();
    batch(() => {
      asked.value = undefined;
      all.value = [];
      progress.value = { kind: "none" };
    });
  }

  const endEffect = effect(() => {
    const pgn = game.reviewed.value;
    const isWaiting = request.isWaiting.value;
    untracked(() => {
      if (pgn === undefined) {
        forget();
      } else if (pgn !== asked.peek()?.pgn && !isWaiting) {
        void run(requestOf(pgn));
      }
    });
  });

  /** Requests a review, even if the same review was requested before. The default is the game on the board. */
  function start(pgn?: string): void {
    batch(() => {
      asked.value = undefined;
      game.review(pgn);
      // The effect above runs only if the text changes, or at the end of the wait, so start the review here.
      const text = game.reviewed.peek();
      if (text !== undefined && !request.isWaiting.peek()) {
        void run(requestOf(text));
      }
    });
  }

  const mistake = (direction: Direction) => nextJudged(moves.value, branch.value.ply, direction);

  function goToPly(ply: number): void {
    game.goTo({ id: ids.peek()[ply - 1] ?? "" });
  }

  /** Returns the reviewed position as a response of an analysis. */
  function evaluationOf(node: GameNode): EvaluateResponse | undefined {
    const state = progress.value;
    const { best } = all.value[node.ply] ?? {};
    // The review assumes a score of the standard start, and its line has the score of the search.
    const score = (node.ply === 0 ? best?.score : undefined) ?? scoreOf(node);
    const lines = best?.score ? [{ rank: 1, score: best.score, moves: best.moves, san: best.san }] : [];
    const { limits, deterministic } = (state.kind === "done" && state.review.search) || {};
    const search = limits?.depth !== undefined && {
      ...{ depth: limits.depth, stopReason: StopReason.DEPTH, cached: true },
      ...(deterministic && { deterministic }),
    };
    const { tablebase } = reviewOf(node) ?? {};
    return (
      score &&
      create(EvaluateResponseSchema, {
        ...{ score, lines },
        ...(best?.move && { bestMove: best.move }),
        ...(tablebase && { tablebase }),
        ...(search && { search }),
      })
    );
  }

  const reviewed = computed(() => {
    const state = progress.value;
    return state.kind === "done" ? reviewedGame(asked.peek()?.pgn ?? "", state.review.pgn) : undefined;
  });

  const practice = createPractice({
    ...{ game, client, moves, line, isStale, scoreOf },
    search() {
      const state = progress.peek();
      const { depth, nodes } = (state.kind === "done" && state.review.search?.limits) || {};
      return { depth, nodes, engine: asked.peek()?.engine };
    },
  });
  return {
    practice,
    progress: progress as ReadonlySignal<Progress>,
    /** The reviewed moves that are still in the main line. */
    moves: moves as ReadonlySignal<readonly MoveReview[]>,
    /** True if the user has changed the reviewed moves. The figures of the review belong to the former game. */
    isStale: isStale as ReadonlySignal<boolean>,
    /** The game on the board as PGN, with the remarks of its review. */
    exported: computed(() => exportedPgn(game.game.value, reviewed.value)),
    /** True if another review of the game would have other settings than the review that is shown. */
    hasOtherSettings: computed(() => {
      const shown = asked.value;
      const settings = request.search.value;
      if (shown === undefined || progress.value.kind !== "done" || isStale.value) {
        return false;
      }
      return !equals(ReviewGameRequestSchema, requestOf(shown.pgn ?? "", settings), shown);
    }),
    line,
    reviewOf,
    scoreOf,
    evaluationOf,
    branch,
    /** The number of moves in the reviewed game. A plan may allow fewer moves. */
    plies: computed(() => {
      const reading = asked.value && gameFromPgn(asked.value.pgn ?? "");
      return reading?.kind === "game" ? mainlineOf(reading.game).length - 1 : 0;
    }),
    /** The beginning of the game that the rest of the quota allows to review at once. Undefined if the review does not wait. */
    beginning: computed(() => {
      const state = progress.value;
      const error = state.kind === "waiting" ? ConnectError.from(state.wait.error) : undefined;
      const isRate = problemOf(error)?.code === "rate_limited";
      const [reached] = error && isRate ? rateLimitsFrom(error.metadata) : [];
      const plies = pliesOfRequests(reached?.remaining ?? 0);
      const pgn = beginningOf(asked.value?.pgn ?? "", plies);
      return pgn === undefined ? undefined : { pgn, plies };
    }),
    start,

    /** Starts a review with the corrected request that an error contains, in plain JSON. */
    startSuggested(suggested: JsonObject): void {
      batch(() => {
        request.settings.value = { ...request.settings.peek(), ...settingsFromPlain(suggested) };
        start(typeof suggested.pgn === "string" ? suggested.pgn : undefined);
      });
    },

    /** Stops the review. The moves that are already reviewed stay visible. */
    stop(): void {
      running.abort();
    },

    goToPly,

    /** The nearest inaccuracy, mistake or blunder before and after the position on the board. */
    mistakes: {
      has: (direction: Direction) => mistake(direction) !== undefined,
      goTo(direction: Direction): void {
        const ply = mistake(direction);
        if (ply !== undefined) {
          goToPly(ply);
        }
      },
    },

    dispose(): void {
      practice.dispose();
      endEffect();
      running.abort();
    },
  };
}
