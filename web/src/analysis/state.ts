import { computed, signal } from "@preact/signals";
import type { Position } from "../../../src/chess/position.ts";
import { change, goTo, played } from "../address.ts";
import { startPlace } from "../place-text.ts";
import { type Play, type PlayReading, readPlay } from "./play.ts";

/** The position of the address, read by the rules. */
export const reading = computed<PlayReading>(() => readPlay(played.value.fen, played.value.moves));

/** The game on the board; an empty one where the address cannot be read. */
export const play = computed<Play>(() => playOf(reading.value));

/** How many of its moves have been played. */
export const ply = computed(() => Math.min(played.value.ply, play.value.moves.length));

/** The position on the board. */
export const position = computed<Position>(() => {
  const { positions } = play.value;
  return positions[ply.value] ?? firstOf(positions);
});

/** The error in the FEN that was entered, until a valid one is entered. */
export const refusedFen = signal<Refused | undefined>(undefined);

/** The same of the address's own. */
export const refusedLink = computed<Refused | undefined>(() =>
  reading.value.kind === "faults" ? { ...reading.value, text: shownText(played.value.fen) } : undefined,
);

/** Cuts an entered FEN for an error message. A valid FEN has 90 characters at most. */
const shownText = (text: string) => text.slice(0, 200);

type Refused = { readonly text: string } & Extract<PlayReading, { kind: "faults" }>;

function playOf(read: PlayReading): Play {
  const known = read.kind === "play" ? read : readPlay(startPlace.fen, []);
  if (known.kind === "faults") {
    throw new Error("the start position can be read");
  }
  return known.play;
}

function firstOf(positions: readonly Position[]): Position {
  const [first] = positions;
  if (first === undefined) {
    throw new Error("a game has a position");
  }
  return first;
}

/** Goes to a position that was given as a FEN, or notes what is wrong with it. */
export function takeFen(text: string): PlayReading {
  const read = readPlay(text, []);
  if (read.kind === "faults") {
    refusedFen.value = { ...read, text: shownText(text) };
  } else {
    refusedFen.value = undefined;
    // The FEN as `src/chess/` writes it, so that Chess960 stays Chess960 in the link.
    const fen = firstOf(read.play.positions).fen;
    goTo({ fen: fen === startFen() ? startPlace.fen : fen, moves: [], ply: 0 });
  }
  return read;
}

const startFen = () => firstOf(playOf(readPlay(startPlace.fen, [])).positions).fen;

/** Plays moves in UCI or SAN from the position on the board; those that followed stay only if they are the same. */
export function playMoves(texts: readonly string[]): Play {
  // If the address cannot be read, the board shows the start position.
  const fen = reading.value.kind === "play" ? played.value.fen : startPlace.fen;
  const sans = play.value.moves.map(({ san }) => san);
  const before = sans.slice(0, ply.value);
  const next = playOf(readPlay(fen, [...before, ...texts]));
  const now = next.moves.map(({ san }) => san);
  const isSame = now.every((san, index) => san === sans[index]);
  if (now.length > before.length) {
    change({ fen, moves: isSame ? sans : now, ply: now.length });
  }
  return next;
}

/** Goes back or forward in the game; as far as it goes. */
export function goToPly(to: number): void {
  change({ ply: Math.min(Math.max(to, 0), play.value.moves.length) });
}

export function flip(): void {
  change({ orientation: played.value.orientation === "white" ? "black" : "white" });
}
