import type { Position } from "../chess/position.ts";
import { readSearchMoves } from "../chess/search-moves.ts";
import { validatePosition } from "../chess/validate-position.ts";

export interface PositionLine {
  readonly fen: string;
  readonly id: string | undefined;
  /** The operands of the EPD operation `bm` (best move). `dm 3` (mate in 3 moves) is stored as `#3`. */
  readonly best: readonly string[];
  /** The operands of the EPD operation `am` (avoid move). */
  readonly avoid: readonly string[];
}

/** Returns undefined for an empty line and for a comment, which begins with `#`. Does not validate the position. */
export function positionFromLine(line: string): PositionLine | undefined {
  const text = line.trim();
  if (text === "" || text.startsWith("#")) {
    return undefined;
  }
  const [, placement = text, rest = ""] = /^((?:[^\s;]+\s+){3}[^\s;]+)(.*)$/.exec(text) ?? [];
  const [, clocks = "", after = rest] = /^\s+(\d+\s+\d+)(?![^\s;])(.*)$/.exec(rest) ?? [];
  // Operations begin with a letter or follow a semicolon. Any other text after the fields is part of a bad FEN.
  const [separator = ""] = /^[\s;]*/.exec(after) ?? [];
  const operations = after.slice(separator.length);
  const isEpd = operations === "" || separator.includes(";") || /^[a-z]/i.test(operations);
  const found = new Map<string, string[]>();
  for (const [name, operands] of isEpd ? operationsOf(operations) : []) {
    found.set(name, [...(found.get(name) ?? []), ...operands]);
  }
  return {
    fen: isEpd ? `${placement} ${clocks || clocksOf(found)}`.trim() : text,
    id: found.get("id")?.join(" "),
    best: found.get("bm") ?? found.get("dm")?.map((moves) => `#${moves}`) ?? [],
    avoid: found.get("am") ?? [],
  };
}

/** Splits operations such as `bm Nf3 e4; id "one; two";` into names with their operands. */
function operationsOf(text: string): [string, string[]][] {
  return (text.match(/(?:"[^"]*"|[^;"])+/g) ?? []).flatMap((operation): [string, string[]][] => {
    const [name, ...operands] = operation.trim().match(/"[^"]*"|\S+/g) ?? [];
    return name === undefined ? [] : [[name, operands.map((operand) => operand.replaceAll('"', ""))]];
  });
}

/** Builds the last two fields of a FEN from the operations `hmvc` and `fmvn`, or returns an empty text. */
function clocksOf(operations: ReadonlyMap<string, readonly string[]>): string {
  const halfmoves = operations.get("hmvc")?.[0];
  const fullmoves = operations.get("fmvn")?.[0];
  return halfmoves === undefined && fullmoves === undefined ? "" : `${halfmoves ?? 0} ${fullmoves ?? 1}`;
}

interface FoundMove {
  readonly uci: string;
  /** Positive if White mates in this number of moves, negative if Black mates. Undefined if no mate was found. */
  readonly mate: number | undefined;
}

/** Returns the first operand of `bm` or `am` that is not a legal move. Returns undefined if the position is invalid. */
export function illegalOperandOf({ fen, best, avoid }: PositionLine): string | undefined {
  const validation = validatePosition({ fen, moves: [], chess960: undefined });
  return validation.kind === "position"
    ? [...best, ...avoid].find(
        (written) => !isMate(written) && ucisOf(validation.position, written).length === 0,
      )
    : undefined;
}

const toMate = /^(?:#|\+?M)\+?(\d+)$/i;

function isMate(written: string): boolean {
  return toMate.test(withoutGlyphs(written));
}

function withoutGlyphs(written: string): string {
  return written.replace(/[,!?]+$/, "");
}

function ucisOf(position: Position, written: string): readonly string[] {
  const reading = readSearchMoves(position, [withoutGlyphs(written)]);
  const meant = reading.kind === "moves" ? reading : readSearchMoves(position, reading.spelled ?? []);
  return meant.kind === "moves" ? meant.ucis : [];
}

/** Returns undefined if the line has no operation `bm`, `dm` or `am`. */
export function isSolved({ fen, best, avoid }: PositionLine, { uci, mate }: FoundMove): boolean | undefined {
  if (best.length === 0 && avoid.length === 0) {
    return undefined;
  }
  const validation = validatePosition({ fen, moves: [], chess960: undefined });
  const isFound = (written: string) => {
    if (validation.kind !== "position") {
      return false;
    }
    const { position } = validation;
    const [, movesToMate] = toMate.exec(withoutGlyphs(written)) ?? [];
    if (movesToMate !== undefined) {
      const moves = position.turn === "white" ? mate : mate && -mate;
      return moves !== undefined && moves > 0 && moves <= Number(movesToMate);
    }
    return ucisOf(position, written).includes(uci);
  };
  return (best.length === 0 || best.some(isFound)) && !avoid.some(isFound);
}
