/** A command of UCI from a chess program. */
export type UciCommand =
  | { readonly kind: "uci" | "isready" | "ucinewgame" | "stop" | "ponderhit" | "quit" }
  | { readonly kind: "debug"; readonly on: boolean }
  /** `value` is undefined if none is written, as for a button. */
  | { readonly kind: "setoption"; readonly name: string; readonly value: string | undefined }
  | { readonly kind: "position"; readonly fen: string; readonly moves: readonly string[] }
  | { readonly kind: "go"; readonly go: Go; readonly complaints: readonly string[] }
  /** A known command that cannot be followed. */
  | { readonly kind: "refused"; readonly complaint: string }
  /** A command without effect or answer. */
  | { readonly kind: "ignored" };

/** The arguments of `go`. Numbers are as written: of any size, times also negative. */
export interface Go {
  /** Plies. */
  readonly depth?: number;
  readonly nodes?: number;
  readonly movetimeMs?: number;
  /** Moves, not plies, in which the side to move shall mate. */
  readonly mate?: number;
  readonly movesToGo?: number;
  readonly clocks: Readonly<Record<"white" | "black", Clock>>;
  /** The only moves to search; empty for all. */
  readonly searchMoves: readonly string[];
  /** The best move waits for `stop`. */
  readonly infinite: boolean;
  /** The best move waits for `ponderhit` or `stop`, and the clock does not run until then. */
  readonly ponder: boolean;
}

interface Clock {
  /** Milliseconds that are left; undefined if no clock runs. */
  readonly leftMs: number | undefined;
  readonly incrementMs: number;
}

type Reader = (words: readonly string[]) => UciCommand;

const readers: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ["uci", () => ({ kind: "uci" })],
  ["isready", () => ({ kind: "isready" })],
  ["ucinewgame", () => ({ kind: "ucinewgame" })],
  ["stop", () => ({ kind: "stop" })],
  ["ponderhit", () => ({ kind: "ponderhit" })],
  ["quit", () => ({ kind: "quit" })],
  ["debug", ([word]) => ({ kind: "debug", on: word === "on" })],
  // Kibitz needs no registration.
  ["register", () => ({ kind: "ignored" })],
  ["setoption", readSetOption],
  ["position", readPosition],
  ["go", readGo],
]);

/** Reads a line. As UCI requires, words before the first known command are skipped. */
export function readCommand(line: string): UciCommand {
  const words = line.trim().split(/\s+/);
  const first = words.findIndex((word) => readers.has(word));
  return readers.get(words[first] ?? "")?.(words.slice(first + 1)) ?? { kind: "ignored" };
}

function readSetOption(words: readonly string[]): UciCommand {
  const end = words.indexOf("value");
  const name = words.slice(words[0] === "name" ? 1 : 0, end < 0 ? undefined : end).join(" ");
  return name === ""
    ? { kind: "refused", complaint: "setoption names no option: setoption name <name> value <value>" }
    : { kind: "setoption", name, value: end < 0 ? undefined : words.slice(end + 1).join(" ") };
}

function readPosition(words: readonly string[]): UciCommand {
  const end = words.indexOf("moves");
  const [what, ...fen] = end < 0 ? words : words.slice(0, end);
  const moves = end < 0 ? [] : words.slice(end + 1);
  switch (what) {
    case "startpos":
      return { kind: "position", fen: "startpos", moves };
    case "fen":
      return { kind: "position", fen: fen.join(" "), moves };
    default:
      // It is refused later, as every invalid FEN.
      return { kind: "position", fen: [what, ...fen].join(" "), moves };
  }
}

/** The words that a whole number follows. */
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
const flags = ["infinite", "ponder"] as const;
const isOf = <Word extends string>(words: readonly Word[], word: string): word is Word =>
  (words as readonly string[]).includes(word);

function readGo(words: readonly string[]): UciCommand {
  if (words.includes("perft")) {
    return { kind: "refused", complaint: "go perft is not known here: only positions are analysed" };
  }
  const numbers: Partial<Record<(typeof numbered)[number], number>> = {};
  const set = new Set<string>();
  const searchMoves: string[] = [];
  const complaints: string[] = [];
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? "";
    if (isOf(numbered, word)) {
      const value = words[at + 1] ?? "";
      if (/^[+-]?\d+$/.test(value)) {
        numbers[word] = Number(value);
        at++;
      } else {
        complaints.push(`go ${word} needs a whole number: it is passed over`);
      }
    } else if (isOf(flags, word)) {
      set.add(word);
    } else if (word === "searchmoves") {
      while (at + 1 < words.length && !isOf([...numbered, ...flags], words[at + 1] ?? "")) {
        searchMoves.push(words[++at] ?? "");
      }
    }
  }
  const { depth, nodes, movetime, mate, movestogo, wtime, btime, winc = 0, binc = 0 } = numbers;
  const go: Go = {
    ...(depth !== undefined && { depth }),
    ...(nodes !== undefined && { nodes }),
    ...(movetime !== undefined && { movetimeMs: movetime }),
    ...(mate !== undefined && { mate }),
    ...(movestogo !== undefined && { movesToGo: movestogo }),
    clocks: {
      white: { leftMs: wtime, incrementMs: winc },
      black: { leftMs: btime, incrementMs: binc },
    },
    searchMoves,
    infinite: set.has("infinite"),
    ponder: set.has("ponder"),
  };
  return { kind: "go", go, complaints };
}
