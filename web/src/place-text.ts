import type { Orientation } from "./board/squares.ts";
import { type Settings, settingsFromRecord } from "./request/settings.ts";

/** All that a link to an analysis holds. The FEN and the moves may be invalid: the reader checks them. */
export interface Place {
  /** The FEN as it was entered; `startpos` for the start position. */
  readonly fen: string;
  /** SAN or UCI. */
  readonly moves: readonly string[];
  /** How many of the moves have been played on the board. */
  readonly ply: number;
  readonly orientation: Orientation;
  readonly settings: Settings;
}

export const startPlace: Place = {
  fen: "startpos",
  moves: [],
  ply: 0,
  orientation: "white",
  settings: {},
};

/**
 * The fragment of an address: `#fen=8/…_w_-_-_0_1&moves=e4_e5&depth=20`. Blanks are underscores, and what is as usual is
 * left out. Of `fen` and `moves` there is always one, or else the name of the view.
 */
export function fragmentOfPlace({ fen, moves, ply, orientation, settings }: Place): string {
  const parts: readonly (readonly [string, string])[] = [
    ["fen", fen === startPlace.fen ? "" : fen.trim()],
    // Check signs say nothing that the move does not, and `#` begins a fragment.
    ["moves", moves.map((move) => move.replace(/[+#]+$/, "")).join(" ")],
    ["ply", ply === moves.length ? "" : String(ply)],
    ["board", orientation === "black" ? "black" : ""],
    ...Object.entries(settings),
  ];
  const written = parts.flatMap(([name, text]) => (text === "" ? [] : [`${name}=${escaped(text)}`]));
  return `#${[...(written[0]?.startsWith("fen=") || written[0]?.startsWith("moves=") ? [] : ["analysis"]), ...written].join("&")}`;
}

/** Reads a place from a fragment. Missing parameters have their defaults; unknown ones are ignored. */
export function placeFromFragment(fragment: string): Place {
  const texts: Record<string, string> = {};
  for (const part of fragment.replace(/^#/, "").split("&")) {
    const [name = "", ...text] = part.split("=");
    texts[name] = unescaped(text.join("="));
  }
  const moves = (texts.moves ?? "").split(/[\s,]+/).filter((move) => move !== "");
  const ply = /^\d{1,4}$/.test(texts.ply ?? "") ? Number(texts.ply) : moves.length;
  return {
    fen: texts.fen?.trim() || startPlace.fen,
    moves,
    ply: Math.min(ply, moves.length),
    orientation: texts.board === "black" ? "black" : "white",
    settings: settingsFromRecord(texts),
  };
}

/** Readable where it can be: what URLs allow in a fragment stays, `&` and `_` must not. */
function escaped(text: string): string {
  return encodeURIComponent(text)
    .replaceAll("_", "%5F")
    .replace(/%20/g, "_")
    .replace(/%2F|%2C|%3D|%3A|%2B/g, decodeURIComponent);
}

function unescaped(text: string): string {
  const spaced = text.replaceAll("_", " ");
  try {
    return decodeURIComponent(spaced);
  } catch {
    // A link that was cut inside of an escape: what is left of it is shown and explained.
    return spaced;
  }
}
