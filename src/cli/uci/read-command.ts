import { readPastedFen } from "../../chess/pasted-fen.ts";
import { maxFenCharacters } from "../../chess/read-fen.ts";
import { echo } from "../../text/echo.ts";

export type UciCommand =
  | { readonly kind: "uci" | "isready" | "stop" | "ponderhit" | "quit" }
  /** `value` is undefined for an option of the type `button`. */
  | { readonly kind: "setoption"; readonly name: string; readonly value: string | undefined }
  | {
      readonly kind: "position";
      readonly fen: string;
      readonly moves: readonly string[];
      /** An error message if the word `moves` is missing. */
      readonly misplaced: string | undefined;
    }
  | { readonly kind: "go"; readonly go: Go };

/** Numbers are not validated: a time may be negative, and a depth may be too large. */
export interface Go {
  readonly depth: number | undefined;
  readonly nodes: number | undefined;
  readonly movetimeMs: number | undefined;
  /** The number of moves (not plies) in which the side to move must mate. */
  readonly mate: number | undefined;
  readonly movesToGo: number | undefined;
  readonly clocks: Readonly<Record<"white" | "black", Clock>>;
  /** True if the command contains `wtime`, `btime`, `winc`, `binc` or `movestogo`, even without a valid number. */
  readonly hasClock: boolean;
  /** If empty, all moves are searched. */
  readonly searchMoves: readonly string[];
  /** True for `go infinite`: the best move is sent only after `stop`. */
  readonly infinite: boolean;
  /** True for `go ponder`: the best move is sent only after `ponderhit` or `stop`. The clock starts at `ponderhit`. */
  readonly ponder: boolean;
  /** Messages about parts of the command that have no effect. */
  readonly notes: readonly string[];
}

interface Clock {
  readonly leftMs: number | undefined;
  readonly incrementMs: number;
}

const commands = new Set(["uci", "isready", "setoption", "position", "go", "stop", "ponderhit", "quit"]);

/** Ignores unknown words before a command, as UCI requires. Returns undefined if the line contains no known command. */
export function readCommand(line: string): UciCommand | undefined {
  const words = line.trim().split(/\s+/);
  const first = words.findIndex((word) => commands.has(word));
  const kind = words[first];
  const rest = words.slice(first + 1);
  switch (kind) {
    case "uci":
    case "isready":
    case "stop":
    case "ponderhit":
    case "quit":
      return { kind };
    case "setoption": {
      const [name, value] = splitAt("value", rest);
      return { kind, name: (name[0] === "name" ? name.slice(1) : name).join(" "), value: value?.join(" ") };
    }
    case "position": {
      const [before, moves = []] = splitAt("moves", rest);
      const fen = before[0] === "fen" ? before.slice(1) : before;
      const text = fen.join(" ");
      return { kind, fen: text, moves, misplaced: readPastedFen(text, moves) ? undefined : misplacedIn(fen) };
    }
    case "go":
      return { kind, go: readGo(rest) };
    default:
      return undefined;
  }
}

const fenFields = 6;

/** Returns an error message if the word `moves` is missing between the FEN (or `startpos`) and the moves. */
function misplacedIn(fen: readonly string[]): string | undefined {
  const firstMove = fen.findIndex((word) => /^[a-h][1-8][a-h][1-8][qrbn]?$/i.test(word));
  const length = Math.min(fen[0] === "startpos" ? 1 : fenFields, firstMove < 0 ? fen.length : firstMove);
  const [first, ...others] = fen.slice(length);
  if (first === undefined) {
    return undefined;
  }
  const given = fen.slice(0, length).join(" ");
  const position = length <= 1 ? "startpos" : `fen ${given.length > maxFenCharacters ? echo(given) : given}`;
  const written = echo([first, ...others].join(" "));
  return `the word moves is missing before ${echo(first)}; write: position ${position} moves ${written}`;
}

/** The second part is undefined if the keyword is missing. */
function splitAt(
  keyword: string,
  words: readonly string[],
): readonly [readonly string[], readonly string[] | undefined] {
  const at = words.indexOf(keyword);
  return at < 0 ? [words, undefined] : [words.slice(0, at), words.slice(at + 1)];
}

const numbered = [
  "depth",
  "nodes",
  "movetime",
  "mate",
  "movestogo",
  "wtime",
  "btime",
  "winc",
  "binc",
] as const;
const goWords = new Set<string>([...numbered, "searchmoves", "infinite", "ponder", "perft"]);
/** Without a valid number, these limits have no effect. */
const limits = ["depth", "nodes", "movetime", "mate"] as const;

function readGo(words: readonly string[]): Go {
  const parts = new Map<string, string[]>();
  let part: string[] = [];
  for (const word of words) {
    if (goWords.has(word)) {
      part = [];
      parts.set(word, part);
    } else {
      part.push(word);
    }
  }
  const number = (word: (typeof numbered)[number]) => {
    const [text = ""] = parts.get(word) ?? [];
    return /^[+-]?\d+$/.test(text) ? Number(text) : undefined;
  };
  return {
    depth: number("depth"),
    nodes: number("nodes"),
    movetimeMs: number("movetime"),
    mate: number("mate"),
    movesToGo: number("movestogo"),
    clocks: {
      white: { leftMs: number("wtime"), incrementMs: number("winc") ?? 0 },
      black: { leftMs: number("btime"), incrementMs: number("binc") ?? 0 },
    },
    searchMoves: parts.get("searchmoves") ?? [],
    hasClock: ["wtime", "btime", "winc", "binc", "movestogo"].some((word) => parts.has(word)),
    infinite: parts.has("infinite"),
    ponder: parts.has("ponder"),
    notes: [
      ...(parts.has("perft") ? ["go perft is not supported: the position is searched instead"] : []),
      ...limits.flatMap((word) =>
        parts.has(word) && number(word) === undefined ? [noteOfLimit(word, parts.get(word)?.[0])] : [],
      ),
    ],
  };
}

function noteOfLimit(word: string, written: string | undefined): string {
  const got = written === undefined ? "" : `, not ${echo(written, "'")}`;
  return `go ${word} needs a whole number${got}, and has no effect without it`;
}
