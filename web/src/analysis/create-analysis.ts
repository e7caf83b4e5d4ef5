import { Code, ConnectError } from "@connectrpc/connect";
import { batch, computed, effect, signal, untracked } from "@preact/signals";
import { StopReason } from "../../../gen/chess/analysis/v1/analysis_pb.ts";
import type { EvaluateResponse } from "../../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { standardStart } from "../../../src/chess/read-fen.ts";
import { defaultDepth } from "../../../src/engine/profiles.ts";
import { type Openings, openingsFrom } from "../../../src/game/find-opening.ts";
import type { Client } from "../client/client.ts";
import { keepAsking, type Wait } from "../client/keep-asking.ts";
import { failureOf } from "../client/problem.ts";
import type { GameState } from "../game/create-game.ts";
import { type GameNode, playLine } from "../game/game.ts";
import { createKeptSwitch } from "../parts/kept-switch.ts";
import { scoreText } from "../parts/score-text.ts";
import type { RequestState } from "../request/request.ts";
import type { SearchRequest } from "../request/settings.ts";
import { settleMsAfter } from "./settle.ts";

export type SearchState =
  /** `idle`: no search was requested. `asking`: no evaluation has arrived yet. */
  | { readonly kind: "idle" | "asking" | "searching" | "done" | "stopped" }
  | { readonly kind: "queued"; readonly place: number; readonly waitMs: number }
  /** The page repeats the request at the end of `wait`. */
  | { readonly kind: "waiting"; readonly wait: Wait }
  | { readonly kind: "refused"; readonly error: unknown };

interface PointedMove {
  readonly rank: number;
  readonly index: number;
}

interface Deps {
  readonly game: GameState;
  readonly client: Client;
  readonly request: RequestState;
  readonly reviewed?: (node: GameNode) => EvaluateResponse | undefined;
}

export type AnalysisState = ReturnType<typeof createAnalysis>;

/** Sends no request before {@link AnalysisState.follow} is called. */
export function createAnalysis({ game, client, request, reviewed }: Deps) {
  const automatic = createKeptSwitch("analysis");
  const { isOn } = automatic;
  const search = signal<SearchState>({ kind: "idle" });
  const evaluations = signal<readonly EvaluateResponse[]>([]);
  const pointedAt = signal<PointedMove | undefined>(undefined);
  const openings = signal<Openings | undefined>(undefined);
  const latest = computed(() => evaluations.value.at(-1));
  const position = computed(() => game.at.value.position);
  // Send the moves, because the service counts repetitions.
  const question = computed(() => ({
    fen: position.value.root,
    moves: [...position.value.moves],
    ...request.search.value,
    ...request.greatestLimit.value,
  }));
  const questionKey = computed(() =>
    JSON.stringify(question.value, (_, value) => (typeof value === "bigint" ? value.toString() : value)),
  );
  const canAsk = computed(() => !position.value.terminal && !request.isWaiting.value);
  /** The evaluations of finished searches by {@link questionKey}. */
  const known = new Map<string, readonly EvaluateResponse[]>();
  /** The times of the latest requests, on the clock of `performance.now()`. */
  let calls: readonly number[] = [];
  let running: AbortController | undefined;
  /** The service requested this wait. No position is searched before the wait ends. */
  let limit: Wait | undefined;

  /** Shows the stored evaluation of the position on the board. Returns false if no evaluation is stored. */
  function recall(): boolean {
    const inReview = reviewed?.(game.at.peek());
    const isEnough = inReview !== undefined && isAnswerTo(request.search.peek(), inReview);
    const answer = known.get(questionKey.peek()) ?? (isEnough ? [inReview] : undefined);
    if (answer) {
      evaluations.value = answer;
      search.value = { kind: "done" };
    }
    return answer !== undefined;
  }

  /** Replaces the running search. The shown evaluations stay visible. `depth` replaces the depth in the settings. */
  async function ask({ afterMs = 0, depth }: { afterMs?: number; depth?: number } = {}): Promise<void> {
    running?.abort();
    const controller = new AbortController();
    running = controller;
    const { signal: ended } = controller;
    const key = questionKey.peek();
    const asked = { ...question.peek(), ...(depth !== undefined && { depth }) };
    let said = depth === undefined ? [] : evaluations.peek();
    const note = (state: SearchState) => {
      search.value = state;
    };
    batch(() => {
      evaluations.value = said;
      note({ kind: "asking" });
    });
    try {
      await untilDue(afterMs, ended);
      const onWait = (wait: Wait) => {
        limit = failureOf(wait.error).kind === "problem" ? wait : undefined;
        note({ kind: "waiting", wait });
      };
      for await (const { event } of keepAsking(() => answerTo(asked, ended), { signal: ended, onWait })) {
        if (event.case === "queued") {
          note({ kind: "queued", place: event.value.place, waitMs: event.value.expectedWaitMs });
        } else if (event.case === "evaluation") {
          said = withDepth(said, event.value);
          batch(() => {
            evaluations.value = said;
            note({ kind: "searching" });
          });
        }
      }
      known.set(key, said);
      note({ kind: "done" });
    } catch (error) {
      if (!ended.aborted) {
        note({ kind: "refused", error });
      }
    }
  }

  /** Waits `afterMs`, or longer if the service requested a longer wait. */
  async function untilDue(afterMs: number, ended: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const endsAt = Math.max(performance.now() + afterMs, limit?.endsAt ?? 0);
    if (limit && limit.endsAt >= endsAt) {
      search.value = { kind: "waiting", wait: { ...limit, retry: resolve } };
    }
    const timer = setTimeout(resolve, endsAt - performance.now());
    ended.addEventListener("abort", () => reject(ended.reason));
    await promise.finally(() => clearTimeout(timer));
    limit = undefined;
  }

  async function* answerTo(asked: ReturnType<typeof question.peek>, ended: AbortSignal) {
    calls = [...calls.slice(-60), performance.now()];
    let isWhole = false;
    for await (const message of client.analyses.streamEvaluate(asked, { signal: ended })) {
      const { event } = message;
      isWhole = event.case === "evaluation" && event.value.search?.stopReason !== undefined;
      yield message;
    }
    if (!isWhole) {
      throw new ConnectError("The answer ended before its last evaluation.", Code.Unavailable);
    }
  }

  function stop(): void {
    running?.abort();
    if (isUnderWay(search.peek())) {
      search.value = { kind: "stopped" };
    }
  }

  /** The depth for a deeper search. Undefined if the search is unfinished or if the plan allows no greater depth. */
  const deeperTo = computed(() => {
    const { depth, stopReason } = latest.value?.search ?? {};
    const most = request.planMaximum("depth");
    return search.value.kind === "done" && stopReason === StopReason.DEPTH && (depth ?? 0) < (most ?? 0)
      ? most
      : undefined;
  });

  /** Starts a search whenever the position on the board changes. Returns a function that stops these searches. */
  function follow(): () => void {
    const { fen } = game.game.peek().start.position;
    let isChosen =
      game.path.peek().length > 1 || fen !== standardStart || Object.keys(request.settings.peek()).length > 0;
    const hasMoves = computed(() => game.game.value.start.children.length > 0);
    let isFirst = true;
    let key = client.key.peek();
    const ends = [
      effect(() => {
        questionKey.value;
        // A pasted game can start with the position on the board. In this case only the moves change.
        hasMoves.value;
        const mayAsk = canAsk.value;
        isChosen ||= !isFirst;
        isFirst = false;
        untracked(() => {
          running?.abort();
          batch(() => {
            pointedAt.value = undefined;
            evaluations.value = [];
            search.value = { kind: "idle" };
            if (!recall() && mayAsk && isChosen && isOn.peek()) {
              void ask({ afterMs: settleMsAfter(calls, performance.now()) });
            }
          });
        });
      }),
      effect(() => {
        if (client.key.value !== key) {
          // With another key, the previous wait is no longer necessary.
          key = client.key.value;
          limit = undefined;
          if (["waiting", "refused"].includes(search.peek().kind)) {
            void untracked(ask);
          }
        }
      }),
      effect(() => {
        if (game.path.value.length > 1) {
          void loadOpenings();
        }
      }),
    ];
    return () => {
      for (const end of ends) {
        end();
      }
      running?.abort();
    };
  }

  /** Loads the openings (60 kB) after the first move. */
  async function loadOpenings(): Promise<void> {
    if (openings.peek() === undefined) {
      const rows = await import("../../../gen/openings.json").catch(() => undefined);
      openings.value ??= rows && openingsFrom(rows.default);
    }
  }

  return {
    /** True if the page searches every new position automatically. */
    isOn,
    search,
    /** One evaluation for each depth. The evaluations stay when the search stops. */
    evaluations,
    latest,
    pointedAt,
    deeperTo,

    score: computed<{ readonly text: string; readonly percent: number | undefined }>(() => {
      const { terminal } = position.value;
      const score = latest.value?.score;
      if (terminal) {
        return {
          text: terminal.result.replaceAll("1/2", "½").replace("-", "–"),
          percent: percents[terminal.result],
        };
      }
      return { text: scoreText(score), percent: score?.winPercent };
    }),

    /** The position on the board, or the position after the move in `pointedAt`. */
    shown: computed(() => {
      const { position: here, move: last } = game.at.value;
      const pointed = pointedAt.value;
      const line = pointed && latest.value?.lines.find(({ rank }) => rank === pointed.rank);
      const ahead = line ? playLine(here, line.moves.slice(0, (pointed?.index ?? 0) + 1)) : undefined;
      const there = ahead?.positions.at(-1);
      return there
        ? { position: there, last: ahead?.moves.at(-1), isPreview: true }
        : { position: here, last, isPreview: false };
    }),

    /** Undefined until the openings are loaded. */
    opening: computed(() => openings.value?.find(game.path.value.map((node) => node.position))),

    follow,

    ask: () => void ask(),

    /** Searches to the greatest depth that the caller's plan allows. */
    deepen(): void {
      const depth = deeperTo.peek();
      if (depth !== undefined) {
        void ask({ depth });
      }
    },

    stop,

    turn(on: boolean): void {
      automatic.turn(on);
      if (!on) {
        stop();
      } else if (["idle", "stopped"].includes(search.peek().kind) && canAsk.peek()) {
        void ask();
      }
    },

    playBest(): void {
      const { bestMove, lines = [] } = latest.peek() ?? {};
      // Of the tables: a line of the engine could give the result away.
      const move = bestMove?.uci ?? lines[0]?.moves[0];
      if (move) {
        game.play([move]);
      }
    },
  };
}

const percents = { "1-0": 100, "0-1": 0, "1/2-1/2": 50 } as const;

/** True if the review has the requested depth and number of lines, so that no search is necessary. */
function isAnswerTo(
  { depth = defaultDepth, multipv = 1, ...others }: SearchRequest,
  { search, lines }: EvaluateResponse,
): boolean {
  return Object.keys(others).length === 0 && (search?.depth ?? 0) >= depth && lines.length >= multipv;
}

export function isUnderWay({ kind }: SearchState): boolean {
  return kind === "asking" || kind === "queued" || kind === "searching" || kind === "waiting";
}

/** Replaces the evaluation of the same depth. Ignores lower depths, because a deeper search starts again at depth 1. */
function withDepth(
  evaluations: readonly EvaluateResponse[],
  evaluation: EvaluateResponse,
): readonly EvaluateResponse[] {
  const depthOf = ({ search }: EvaluateResponse) => search?.depth ?? 0;
  const last = evaluations.at(-1);
  return last && depthOf(evaluation) < depthOf(last)
    ? evaluations
    : [...evaluations.filter((other) => depthOf(other) !== depthOf(evaluation)), evaluation];
}
