import { Code, ConnectError } from "@connectrpc/connect";
import { batch, computed, effect, signal, untracked } from "@preact/signals";
import { StopReason } from "../../../gen/chess/analysis/v1/analysis_pb.ts";
import type { EvaluateResponse } from "../../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { standardStart } from "../../../src/chess/validate-position.ts";
import { type Openings, openingsFrom } from "../../../src/game/find-opening.ts";
import type { Client } from "../client/client.ts";
import { keepAsking, type Wait } from "../client/keep-asking.ts";
import { failureOf } from "../client/problem.ts";
import type { GameState } from "../game/create-game.ts";
import { type GameNode, playLine } from "../game/game.ts";
import { scoreText } from "../parts/score-text.ts";
import type { RequestState } from "../request/request.ts";
import type { SearchRequest } from "../request/settings.ts";
import { settleMsAfter } from "./settle.ts";

/** How a search is getting on. */
export type SearchState =
  /** `idle`: nothing was asked. `asking`: the position is too new to be asked about, or the answer has not begun. */
  | { readonly kind: "idle" | "asking" | "searching" | "done" | "stopped" }
  | { readonly kind: "queued"; readonly place: number; readonly waitMs: number }
  /** The service does not answer, or has said when to ask again: the page does so after the wait. */
  | { readonly kind: "waiting"; readonly wait: Wait }
  | { readonly kind: "refused"; readonly error: unknown };

/** A move of a line that is pointed at. */
export interface PointedMove {
  readonly rank: number;
  /** 0 for the first move of the line. */
  readonly index: number;
}

interface Deps {
  readonly game: GameState;
  readonly client: Client;
  readonly request: RequestState;
  /** The evaluation that a review has of a position; undefined if it has none. */
  readonly reviewed?: (node: GameNode) => EvaluateResponse | undefined;
}

export type AnalysisState = ReturnType<typeof createAnalysis>;

/** The analysis of the position on the board. It asks nothing before {@link AnalysisState.follow} is called. */
export function createAnalysis({ game, client, request, reviewed }: Deps) {
  const isOn = signal(true);
  const search = signal<SearchState>({ kind: "idle" });
  const evaluations = signal<readonly EvaluateResponse[]>([]);
  const pointedAt = signal<PointedMove | undefined>(undefined);
  const openings = signal<Openings | undefined>(undefined);
  const latest = computed(() => evaluations.value.at(-1));
  const position = computed(() => game.at.value.position);
  // The history goes along, because the service counts repetitions.
  const question = computed(() => ({
    fen: position.value.root,
    moves: [...position.value.moves],
    ...request.search.value,
  }));
  const questionKey = computed(() =>
    JSON.stringify(question.value, (_, value) => (typeof value === "bigint" ? value.toString() : value)),
  );
  const canAsk = computed(() => !position.value.terminal && !request.isWaiting.value);
  /** The evaluations of each question, by {@link questionKey}. */
  const known = new Map<string, readonly EvaluateResponse[]>();
  /** When the latest calls were made, for {@link settleMsAfter}. */
  let calls: readonly number[] = [];
  let running: AbortController | undefined;
  /** The wait that the service has asked for. It holds for every position. */
  let limit: Wait | undefined;

  /** Shows what is known of the position on the board. Returns whether anything is. */
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

  /** Asks about the position on the board and ends the search before. @param depth instead of the depth of the settings, to go on */
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

  /** Waits until the position has been on the board for a while, and as long as the service has asked for. */
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

  /** The depth that {@link deepen} goes on to; undefined if the search is not done, or cannot become deeper. */
  const deeperTo = computed(() => {
    const { depth, stopReason } = latest.value?.search ?? {};
    const most = request.planMaximum("depth");
    return search.value.kind === "done" && stopReason === StopReason.DEPTH && (depth ?? 0) < (most ?? 0)
      ? most
      : undefined;
  });

  /** Analyses each position that is chosen, as long as the view is open. Returns a function that ends it. */
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
        // A game that was pasted may begin with the position that is on the board already.
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
          // The limits of a caller are not those of the next.
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

  /** Loads the table of openings, which has 60 kB, when somebody plays. While it cannot be loaded, openings have no names. */
  async function loadOpenings(): Promise<void> {
    if (openings.peek() === undefined) {
      // The browser loads a module once.
      const rows = await import("../../../gen/openings.json").catch(() => undefined);
      openings.value ??= rows && openingsFrom(rows.default);
    }
  }

  return {
    /** True if positions are analysed by themselves. */
    isOn,
    search,
    /** The evaluations of the position, depth by depth. They stay if the connection is lost or the search is stopped. */
    evaluations,
    latest,
    pointedAt,
    deeperTo,

    /** The score of the position. If there is none, `text` is empty and `percent` undefined. */
    score: computed<{ readonly text: string; readonly percent: number | undefined }>(() => {
      const { terminal } = position.value;
      const score = latest.value?.score;
      if (terminal) {
        // The rules decide, whether or not the service was asked.
        return {
          text: terminal.result.replaceAll("1/2", "½").replace("-", "–"),
          percent: percents[terminal.result],
        };
      }
      return { text: scoreText(score), percent: score?.winPercent };
    }),

    /** The position to show: that on the board, or that after the move which is pointed at. */
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

    /** The last opening on the way to the position; undefined until the table is loaded. */
    opening: computed(() => openings.value?.find(game.path.value.map((node) => node.position))),

    follow,

    /** Asks about the position on the board, at once. */
    ask: () => void ask(),

    /** Searches on, as deep as the caller's plan allows. */
    deepen(): void {
      const depth = deeperTo.peek();
      if (depth !== undefined) {
        void ask({ depth });
      }
    },

    /** Ends the search; what it has found stays. */
    stop,

    turn(on: boolean): void {
      isOn.value = on;
      if (!on) {
        stop();
      } else if (["idle", "stopped"].includes(search.peek().kind) && canAsk.peek()) {
        void ask();
      }
    },

    /** Plays the best move that is known. */
    playBest(): void {
      const move = latest.peek()?.lines[0]?.moves[0];
      if (move) {
        game.play([move]);
      }
    },
  };
}

const percents = { "1-0": 100, "0-1": 0, "1/2-1/2": 50 } as const;

/** The depth of a search that names none. */
const usualDepth = 14;

/** True if a review has searched a position as deep as the settings ask, and they ask for nothing that a review does not have. */
function isAnswerTo(
  { depth = usualDepth, multipv = 1, ...others }: SearchRequest,
  { search, lines }: EvaluateResponse,
): boolean {
  return Object.keys(others).length === 0 && (search?.depth ?? 0) >= depth && lines.length >= multipv;
}

/** True if there is a search to stop. */
export function isUnderWay({ kind }: SearchState): boolean {
  return kind === "asking" || kind === "queued" || kind === "searching" || kind === "waiting";
}

/** Adds an evaluation, or replaces the one of the same depth. Less deep ones are left out: a search that goes on begins anew. */
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
