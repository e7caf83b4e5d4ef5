import type { Orientation } from "./board/squares.ts";
import { type Settings, settingsFromRecord } from "./request/settings.ts";
import { addressOfView, type View } from "./view.ts";

/** All that a link holds. The FEN, the moves and the PGN may be invalid: the reader checks them. */
export interface Place {
  readonly view: View;
  /** The game that is reviewed; empty if none is. Links to an analysis have a FEN and moves instead. */
  readonly pgn: string;
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
  view: "analysis",
  pgn: "",
  fen: "startpos",
  moves: [],
  ply: 0,
  orientation: "white",
  settings: {},
};

/**
 * The fragment of an address: `#fen=8/…_w_-_-_0_1&moves=e4_e5&depth=20`, or `#review&pgn=1._e4_e5&ply=1`. Spaces are underscores, and
 * defaults are left out. The fragment begins with `fen`, `moves` or the name of the view.
 */
export function fragmentOfPlace({ view, pgn, fen, moves, ply, orientation, settings }: Place): string {
  const isReview = view === "review";
  const game: readonly (readonly [string, string])[] = isReview
    ? [
        ["pgn", pgn.trim()],
        ["ply", pgn === "" || ply === 0 ? "" : String(ply)],
      ]
    : [
        ["fen", fen === startPlace.fen ? "" : fen.trim()],
        // Check signs say nothing that the move does not, and `#` begins a fragment.
        ["moves", moves.map((move) => move.replace(/[+#]+$/, "")).join(" ")],
        ["ply", ply === moves.length ? "" : String(ply)],
      ];
  const all = [...game, ["board", orientation === "black" ? "black" : ""], ...Object.entries(settings)];
  const written = all.flatMap(([name = "", text = ""]) => (text === "" ? [] : [`${name}=${escaped(text)}`]));
  const isNamed = view !== "analysis" || !/^(?:fen|moves)=/.test(written[0] ?? "");
  return [...(isNamed ? [addressOfView(view)] : []), ...written].join("&").replace(/^#?/, "#");
}

/** Reads a place from a fragment. Missing parameters have their defaults; unknown ones are ignored. */
export function placeFromFragment(fragment: string): Place {
  const texts: Record<string, string> = {};
  const parts = fragment.replace(/^#/, "").split("&");
  for (const part of parts) {
    const [name = "", ...text] = part.split("=");
    texts[name] = unescaped(text.join("="));
  }
  const view = parts[0] === "review" || parts[0] === "set-up" ? parts[0] : "analysis";
  const moves = (texts.moves ?? "").split(/[\s,]+/).filter((move) => move !== "");
  const pgn = view === "review" ? (texts.pgn?.trim() ?? "") : "";
  const written = /^\d{1,4}$/.test(texts.ply ?? "") ? Number(texts.ply) : undefined;
  return {
    view,
    pgn,
    fen: texts.fen?.trim() || startPlace.fen,
    moves,
    ply: pgn === "" ? Math.min(written ?? moves.length, moves.length) : (written ?? 0),
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
