import { effect, signal } from "@preact/signals";
import { played } from "../address.ts";
import { request } from "../request/the-request.ts";
import { ask, leave, type Question, recall } from "./live.ts";
import { position, reading } from "./state.ts";

/** True if each position is analysed as soon as it is on the board. */
export const auto = signal(true);

/** How long a position must have been on the board, in milliseconds, before it is worth a call. */
const settleMs = 250;

/** The position on the board, as it is asked. Its history reaches back to where nothing before can be repeated. */
export function questionNow(): Question {
  const { root, moves } = position.peek();
  return { fen: root, moves, settings: request.search.peek() };
}

/** Runs while a position, or a setting, is too new to be asked about. */
let waiting: ReturnType<typeof setTimeout> | undefined;

/** Asks about the position on the board at once, in the place of what waits to be asked. @param afresh even where the answer is known. */
export function askNow({ afresh = false } = {}): void {
  clearTimeout(waiting);
  const question = questionNow();
  if (afresh || !recall(question)) {
    void ask(question, { atOnce: afresh });
  }
}

/** Analyses each new position and what new settings find, while {@link auto} is set. Returns what ends it. */
export function analyseByItself(): () => void {
  let asked: string | undefined;
  // A page that was opened without a position shows the board first, and calls nobody.
  let isFirst = played.peek().fen === "startpos" && played.peek().moves.length === 0;
  const end = effect(() => {
    const { fen, root, moves, terminal } = position.value;
    const waits = request.isWaiting.value;
    const written = JSON.stringify([fen, root, moves, request.search.value, waits], (_, value) =>
      typeof value === "bigint" ? value.toString() : value,
    );
    const isKnown = reading.value.kind === "play";
    const wanted = isKnown && !waits && auto.value;
    if ((isFirst && moves.length === 0) || written === asked) {
      isFirst &&= waits;
      asked = written;
      return;
    }
    asked = written;
    clearTimeout(waiting);
    leave();
    if (!recall(questionNow()) && wanted && !terminal) {
      waiting = setTimeout(() => void ask(questionNow()), settleMs);
    }
  });
  return () => {
    end();
    clearTimeout(waiting);
    leave();
  };
}
