import type { Orientation } from "./board/squares.ts";
import { type Settings, settingsFromRecord } from "./request/settings.ts";
import { addressOfView, type View } from "./view.ts";

/** The content of a link, before validation. */
export interface Place {
  readonly view: View;
  /** The game. A link to an analysis of moves without remarks and variations has a FEN and moves instead. */
  readonly pgn: string;
  /** The FEN as entered, or `startpos`. */
  readonly fen: string;
  readonly moves: readonly string[];
  /** The number of moves before the position on the board. */
  readonly ply: number;
  /** The number of a position in a variation of the PGN. Undefined for a position of the main line. */
  readonly at: number | undefined;
  readonly orientation: Orientation;
  readonly settings: Settings;
}

export const startPlace: Place = {
  view: "analysis",
  pgn: "",
  fen: "startpos",
  moves: [],
  ply: 0,
  at: undefined,
  orientation: "white",
  settings: {},
};

/** Returns, for example, `#fen=8/…_w_-_-_0_1&moves=e4_e5&depth=20`. Omits default values. */
export function fragmentOfPlace({ view, pgn, fen, moves, ply, at, orientation, settings }: Place): string {
  const isPgn = view === "review" || pgn !== "";
  const game: readonly (readonly [string, string])[] = isPgn
    ? [
        ["pgn", pgn.trim()],
        ["ply", pgn === "" || ply === 0 ? "" : String(ply)],
        ["at", at === undefined ? "" : String(at)],
      ]
    : [
        ["fen", fen === startPlace.fen ? "" : fen.trim()],
        // Omit check signs, because `#` has a meaning in addresses.
        ["moves", moves.map((move) => move.replace(/[+#]+$/, "")).join(" ")],
        ["ply", ply === moves.length ? "" : String(ply)],
      ];
  const all = [...game, ["board", orientation === "black" ? "black" : ""], ...Object.entries(settings)];
  const written = all.flatMap(([name = "", text = ""]) => (text === "" ? [] : [`${name}=${escaped(text)}`]));
  const isNamed = view !== "analysis" || !/^(?:fen|moves)=/.test(written[0] ?? "");
  return [...(isNamed ? [addressOfView(view)] : []), ...written].join("&").replace(/^#?/, "#");
}

/** Missing parameters get default values. Unknown parameters are ignored. */
export function placeFromFragment(fragment: string): Place {
  const texts: Record<string, string> = {};
  const parts = fragment.replace(/^#/, "").split("&");
  for (const part of parts) {
    const [name = "", ...text] = part.split("=");
    texts[name] = unescaped(text.join("="));
  }
  const view = parts[0] === "review" || parts[0] === "set-up" ? parts[0] : "analysis";
  const moves = (texts.moves ?? "").split(/[\s,]+/).filter((move) => move !== "");
  const pgn = texts.pgn?.trim() ?? "";
  const number = (text = "") => (/^\d{1,4}$/.test(text) ? Number(text) : undefined);
  const written = number(texts.ply);
  return {
    view,
    pgn,
    fen: texts.fen?.trim() || startPlace.fen,
    moves,
    ply: pgn === "" ? Math.min(written ?? moves.length, moves.length) : (written ?? 0),
    at: pgn === "" ? undefined : number(texts.at),
    orientation: texts.board === "black" ? "black" : "white",
    settings: settingsFromRecord(texts),
  };
}

/** Escapes `&`, `_` and all characters that are forbidden in a fragment. */
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
    return spaced;
  }
}
