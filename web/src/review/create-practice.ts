import { batch, computed, effect, type ReadonlySignal, signal } from "@preact/signals";
import type { Score } from "../../../gen/chess/analysis/v1/analysis_pb.ts";
import type { MoveReview, ReviewLimits } from "../../../gen/chess/analysis/v1/game_pb.ts";
import type { Client } from "../client/client.ts";
import { keepAsking, type Wait } from "../client/keep-asking.ts";
import type { GameState } from "../game/create-game.ts";
import { type GameNode, playLine } from "../game/game.ts";
import { isGoodAttempt, knownPercent, type Side } from "./attempt.ts";
import { judgedOf } from "./judged.ts";

type Attempt =
  | { readonly kind: "none" | "asking" | "right" | "wrong" | "shown" }
  /** The page repeats the request at the end of `wait`. */
  | { readonly kind: "waiting"; readonly wait: Wait }
  | { readonly kind: "failed"; readonly error: unknown };

interface Deps {
  readonly game: GameState;
  readonly client: Client;
  readonly moves: ReadonlySignal<readonly MoveReview[]>;
  readonly line: ReadonlySignal<readonly GameNode[]>;
  readonly isStale: ReadonlySignal<boolean>;
  scoreOf(node: GameNode): Score | undefined;
  /** The engine and the limits of the searches of the review. */
  search(): Partial<Pick<ReviewLimits, "depth" | "nodes">> & { readonly engine?: string | undefined };
}

/** Asks for a better move at each mistake of one side. The attempts do not change the game. */
export function createPractice({ game, client, moves, line, isStale, scoreOf, search }: Deps) {
  const side = signal<Side | undefined>(undefined);
  const ply = signal(0);
  const tried = signal<string | undefined>(undefined);
  const attempt = signal<Attempt>({ kind: "none" });
  /** The plies of the mistakes that the user solved without the answer. */
  const solved = signal<ReadonlySet<number>>(new Set());
  /** White's chances in percent after the attempts that the service evaluated, by position and search. */
  const known = new Map<string, number>();
  let running = new AbortController();

  const mistakesOf = (of: Side) =>
    moves.value.filter(
      (move) => judgedOf(move) && move.best && (move.ply % 2 === firstPly()) === (of === "white"),
    );
  const firstPly = () => (line.value[0]?.position.turn === "black" ? 0 : 1);
  const mistakes = computed(() => (side.value ? mistakesOf(side.value) : []));
  const mistake = computed(() => mistakes.value.find((move) => move.ply === ply.value));
  /** The position before the mistake. */
  const node = computed(() => (mistake.value ? line.value[ply.value - 1] : undefined));
  const position = computed(() => {
    const played = node.value && tried.value ? playLine(node.value.position, [tried.value]) : undefined;
    const [after] = played?.positions ?? [];
    return after && { position: after, last: played?.moves[0] };
  });

  function clear(): void {
    running.abort();
    batch(() => {
      tried.value = undefined;
      attempt.value = { kind: "none" };
    });
  }

  function goTo(next: MoveReview | undefined): void {
    clear();
    batch(() => {
      ply.value = next?.ply ?? 0;
      if (node.value) {
        game.goTo(node.value);
      }
    });
  }

  function end(): void {
    clear();
    side.value = undefined;
  }

  async function judge(uci: string): Promise<void> {
    running.abort();
    const controller = new AbortController();
    running = controller;
    const { signal: ended } = controller;
    const [of, to, at] = [side.peek(), mistake.peek(), node.peek()];
    tried.value = uci;
    const { position: after, last } = position.peek() ?? {};
    const before = at && scoreOf(at)?.winPercent;
    if (!(of && to && before !== undefined && after && last)) {
      return;
    }
    const { depth, nodes, engine } = search();
    const key = [after.root, ...after.moves, depth, nodes, engine].join(" ");
    try {
      let percent = knownPercent(to, before, last.uci, after) ?? known.get(key);
      if (percent === undefined) {
        attempt.value = { kind: "asking" };
        const request = { fen: after.root, moves: [...after.moves], depth, nodes, engine };
        const ask = async function* () {
          yield await client.analyses.evaluate(request, { signal: ended });
        };
        const onWait = (wait: Wait) => {
          attempt.value = { kind: "waiting", wait };
        };
        for await (const { score } of keepAsking(ask, { signal: ended, onWait })) {
          percent = score?.winPercent;
        }
      }
      if (percent !== undefined) {
        known.set(key, percent);
        const isRight = isGoodAttempt(before, percent, of);
        solved.value = isRight ? new Set([...solved.peek(), to.ply]) : solved.peek();
        attempt.value = { kind: isRight ? "right" : "wrong" };
      }
    } catch (error) {
      if (!ended.aborted) {
        attempt.value = { kind: "failed", error };
      }
    }
  }

  const endEffect = effect(() => {
    if (side.value && (moves.value.length === 0 || isStale.value)) {
      end();
    }
  });

  return {
    side: side as ReadonlySignal<Side | undefined>,
    mistakes,
    /** Undefined after the last mistake. */
    mistake,
    node,
    /** The position after the attempt. */
    position,
    attempt: attempt as ReadonlySignal<Attempt>,
    solved: solved as ReadonlySignal<ReadonlySet<number>>,
    mistakesOf,
    /** True if the board shows the position of the question, so that a move is an attempt. */
    isAsking: computed(() => node.value !== undefined && node.value.id === game.at.value.id),

    start(of: Side): void {
      side.value = of;
      solved.value = new Set();
      game.orientation.value = of;
      goTo(mistakes.peek()[0]);
    },
    next: () => goTo(mistakes.peek().find((move) => move.ply > ply.peek())),
    judge: (uci: string) => void judge(uci),
    again: clear,
    backToQuestion: () => goTo(mistake.peek()),
    /** Shows the best move. The mistake does not count as solved. */
    showAnswer(): void {
      clear();
      tried.value = mistake.peek()?.best?.move?.uci;
      attempt.value = { kind: "shown" };
    },
    end,
    dispose(): void {
      endEffect();
      running.abort();
    },
  };
}
