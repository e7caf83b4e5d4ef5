import { batch, computed, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import type { PositionViolation, Warning } from "../../../src/chess/position.ts";
import type { Violation } from "../../../src/errors/errors.ts";
import { type OlderEncoding, recoding } from "./file-text.ts";
import {
  annotate,
  type FenReading,
  type Game,
  type GameNode,
  gameFromFen,
  lineAfter,
  mainlineOf,
  nodeOf,
  pathTo,
  play,
  promote,
  type Remarks,
  remove,
  withTexts,
} from "./game.ts";
import { gameFromPgn, type PgnReading, pgnOfGame, withoutOldLines } from "./pgn.ts";
import { plainFen } from "./plain-fen.ts";

export interface Refused {
  /** `moves`: the FEN is valid, but a move is illegal. The moves before the illegal move were played. */
  readonly kind: "fen" | "pgn" | "moves";
  /** `field`: the text was typed into the FEN field. `input`: the text was pasted, dropped or suggested. */
  readonly from: "field" | "input" | "link";
  readonly text: string;
  readonly violations: readonly (PositionViolation | Violation)[];
  readonly suggestedFen?: string | undefined;
  /** A valid PGN, for example with only the moves before the error. */
  readonly suggestedPgn?: string | undefined;
}

/** The state after an edit or a step. Undo restores `before`, the state before the last edit. */
export interface Moment {
  readonly game: Game;
  /** The id of the node whose position is on the board. */
  readonly at: string;
  /** The PGN of the latest review request. */
  readonly reviewed: string | undefined;
  /** The guessed encoding of the file that contains the game. */
  readonly encoding: OlderEncoding | undefined;
  readonly before: Moment | undefined;
  /** The id of the node whose comment was typed in this edit. */
  readonly typed?: string | undefined;
  /** The state that Undo left. Undefined after an edit. */
  readonly after?: Moment | undefined;
}

export type Step = "first" | "back" | "forward" | "last";

export type GameState = ReturnType<typeof createGameState>;

/** Longer FENs are truncated. A valid FEN has at most 90 characters. */
const shownFenMaxCharacters = 200;

export function createGameState() {
  const moment = signal<Moment>(startMoment());
  const orientation = signal<"white" | "black">("white");
  const refused = signal<Refused | undefined>(undefined);
  const game = computed(() => moment.value.game);
  const path = computed(() => pathTo(game.value, moment.value.at));
  const at = computed(() => path.value.at(-1) ?? game.value.start);
  const line = computed(() => [...path.value, ...lineAfter(at.value)]);

  function edit(next: Omit<Moment, "before">): void {
    batch(() => {
      moment.value = { ...next, before: moment.peek(), after: undefined, typed: undefined };
      refused.value = undefined;
    });
  }

  function goTo({ id }: Pick<GameNode, "id">): void {
    if (id !== moment.peek().at) {
      moment.value = { ...moment.peek(), at: id };
    }
  }

  return {
    /** Assign an earlier value to return to the earlier state of the game. */
    moment: moment as Signal<Moment>,
    game: game as ReadonlySignal<Game>,
    at: at as ReadonlySignal<GameNode>,
    path: path as ReadonlySignal<readonly GameNode[]>,
    /** The nodes from the start to the position on the board, followed by the main continuation. */
    line: line as ReadonlySignal<readonly GameNode[]>,
    orientation,
    /** The last text that could not be read. Undefined after the next edit. */
    refused,
    warnings: computed<readonly Warning[]>(() => game.value.warnings),
    canUndo: computed(() => moment.value.before !== undefined),
    canRedo: computed(() => moment.value.after !== undefined),
    reviewed: computed(() => moment.value.reviewed),

    goTo,

    step(step: Step): void {
      const nodes = line.peek();
      const { ply } = at.peek();
      const to = { first: 0, back: ply - 1, forward: ply + 1, last: nodes.length - 1 }[step];
      const node = nodes[to];
      if (node) {
        goTo(node);
      }
    },

    /** Goes to another variation of the move on the board, or from the position before several moves to its first variation. */
    stepAside(step: -1 | 1): boolean {
      const here = at.peek();
      const moves = path.peek().at(-2)?.children ?? [];
      const next = moves.length > 1 ? moves[moves.indexOf(here) + step] : here.children[step];
      if (next) {
        goTo(next);
      }
      return next !== undefined;
    },

    /** Plays moves in UCI or SAN up to the first illegal move. */
    play(texts: readonly string[]): {
      readonly played: number;
      readonly refused: PositionViolation | undefined;
    } {
      const before = at.peek();
      const next = play(game.peek(), before, texts);
      if (next.game !== game.peek()) {
        edit({ ...moment.peek(), game: next.game, at: next.at.id });
      } else {
        goTo(next.at);
      }
      return { played: next.at.ply - before.ply, refused: next.refused };
    },

    promote(node: GameNode): void {
      edit({ ...moment.peek(), game: promote(game.peek(), node) });
    },

    remove(node: GameNode): void {
      const next = remove(game.peek(), node);
      edit({ ...moment.peek(), game: next, at: nodeOf(next, moment.peek().at).id });
    },

    /** Changes the remarks on the position on the board. For Undo, all characters that are typed there are one edit. */
    annotate(remarks: Partial<Remarks>, isTyping = false): void {
      const now = moment.peek();
      const { id } = at.peek();
      edit({ ...now, game: annotate(now.game, at.peek(), remarks) });
      if (isTyping) {
        const before = now.typed === id ? now.before : now;
        moment.value = { ...moment.peek(), before, typed: id };
      }
    },

    undo(): void {
      const { before } = moment.peek();
      if (before) {
        moment.value = { ...before, after: moment.peek() };
      }
    },

    redo(): void {
      const { after } = moment.peek();
      if (after) {
        moment.value = after;
      }
    },

    /** Starts a game from a FEN. Sets `refused` if the FEN or a move is invalid. */
    takeFen(written: string, moves: readonly string[] = [], from: Refused["from"] = "input"): FenReading {
      const text = plainFen(written);
      const reading = gameFromFen(text, moves);
      batch(() => {
        if (reading.kind === "game") {
          const [start, ...played] = mainlineOf(reading.game);
          const { id = "" } = played.at(-1) ?? start ?? {};
          edit({ game: reading.game, at: id, reviewed: undefined, encoding: undefined });
        }
        const violations =
          reading.kind === "violations" ? reading.violations : reading.refused ? [reading.refused] : [];
        if (violations.length > 0) {
          refused.value = {
            kind: reading.kind === "violations" ? "fen" : "moves",
            from,
            text: text.slice(0, shownFenMaxCharacters),
            violations,
            suggestedFen: reading.kind === "violations" ? reading.suggestedFen : undefined,
          };
        }
      });
      return reading;
    },

    /** Starts a game from a PGN. Sets `refused` if the PGN is invalid. */
    takePgn(text: string, from: Refused["from"] = "input", encoding?: OlderEncoding): PgnReading {
      const reading = gameFromPgn(text);
      if (reading.kind === "game") {
        edit({ game: reading.game, at: "", reviewed: undefined, encoding });
      } else {
        const { violations, suggestedPgn } = reading;
        refused.value = { kind: "pgn", from, text, violations, suggestedPgn };
      }
      return reading;
    },

    /** Reads the letters of the game in another encoding. */
    recode(encoding: OlderEncoding): void {
      const now = moment.peek();
      if (now.encoding) {
        const change = recoding(now.encoding, encoding);
        const reviewed = now.reviewed === undefined ? undefined : change(now.reviewed);
        edit({ ...now, game: withTexts(now.game, change), reviewed, encoding });
      }
    },

    /** Requests a review of the game. `text` is the original PGN if the game was pasted. */
    review(text = pgnOfGame(game.peek())): void {
      // Only the first review removes old variations, because the user may add moves after the first review.
      const isFirst = moment.peek().reviewed === undefined;
      const next = isFirst ? withoutOldLines(game.peek()) : game.peek();
      moment.value = { ...moment.peek(), game: next, at: nodeOf(next, moment.peek().at).id, reviewed: text };
    },

    flip(): void {
      orientation.value = orientation.peek() === "white" ? "black" : "white";
    },
  };
}

function startMoment(): Moment {
  const reading = gameFromFen("startpos");
  if (reading.kind === "violations") {
    throw new Error("the start position can be read");
  }
  return { game: reading.game, at: "", reviewed: undefined, encoding: undefined, before: undefined };
}
