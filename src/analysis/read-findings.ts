import type { MoveDescription } from "../chess/moves.ts";
import type { Score } from "../chess/score.ts";
import type { AnalysisLine, Findings, Warning } from "./analysis.ts";

/** Raised when findings are written otherwise, or the same search is told otherwise: then no stored answer counts any more. */
export const findingsVersion = 2;

/**
 * Findings as they were written as JSON, if that is what this is: of a search that depth or nodes have ended, with every
 * value of the right kind. What else stands there does not count, and none of it is passed on.
 */
export function findingsFromJson(json: unknown): Findings | undefined {
  const { score, best, ponder, lines, depth, seldepth, counters, endedBy, deterministic, warnings } =
    fieldsOf(json);
  const known = { score, best, ponder, lines, depth, seldepth, counters, endedBy, deterministic, warnings };
  return isFindings(known) ? known : undefined;
}

/** The same of a search that may go on, or that time has ended: what nodes tell each other meanwhile. */
export function stateFromJson(json: unknown): Findings | undefined {
  const found = fieldsOf(json);
  const { endedBy, deterministic } = found;
  const said = { endedBy, deterministic };
  const rest = findingsFromJson({ ...found, endedBy: "depth", deterministic: true });
  return rest && isProgress(said) ? { ...rest, ...said } : undefined;
}

type Fields<T> = { readonly [Field in keyof T]?: unknown };
type Is<T> = (value: unknown) => value is T;

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? { ...value } : {};
}

const isText: Is<string> = (value) => typeof value === "string";
const isBoolean: Is<boolean> = (value) => typeof value === "boolean";
const isInteger: Is<number> = (value): value is number => Number.isSafeInteger(value);
const isCount: Is<number> = (value): value is number => isInteger(value) && value >= 0;
const isUci: Is<string> = (value): value is string =>
  isText(value) && /^[a-h][1-8][a-h][1-8][qrbn]?$/.test(value);
const isSquare: Is<string> = (value): value is string => isText(value) && /^[a-h][1-8]$/.test(value);

const oneOf =
  <T extends string | boolean>(...words: readonly T[]): Is<T> =>
  (value): value is T =>
    words.some((word) => word === value);
/** JSON leaves out what is undefined. */
const optional =
  <T>(is: Is<T>): Is<T | undefined> =>
  (value): value is T | undefined =>
    value === undefined || is(value);
const listOf =
  <T>(is: Is<T>): Is<readonly T[]> =>
  (value): value is readonly T[] =>
    Array.isArray(value) && value.every(is);
const objectOf =
  <T extends object>(fields: { readonly [Field in keyof T]-?: Is<T[Field]> }): Is<T> =>
  (value): value is T => {
    const found: Fields<T> = fieldsOf(value);
    return (Object.keys(fields) as (keyof T)[]).every((name) => fields[name](found[name]));
  };

const isCp = objectOf<{ readonly kind: "cp"; readonly cp: number }>({ kind: oneOf("cp"), cp: isInteger });
const isMate = objectOf<{ readonly kind: "mate"; readonly mate: number }>({
  kind: oneOf("mate"),
  mate: isInteger,
});

const isScore = objectOf<Score>({
  value: (value): value is Score["value"] => isCp(value) || isMate(value),
  bound: oneOf("exact", "lower", "upper"),
  wdl: optional(objectOf({ win: isCount, draw: isCount, loss: isCount })),
});

const isMove = objectOf<MoveDescription>({
  uci: isUci,
  san: isText,
  from: isSquare,
  to: isSquare,
  promotion: optional(oneOf("queen", "rook", "bishop", "knight")),
  capture: isBoolean,
  check: isBoolean,
  castling: optional(oneOf("kingside", "queenside")),
  fenAfter: isText,
});

const isLine = objectOf<AnalysisLine>({
  depth: isCount,
  seldepth: isCount,
  score: isScore,
  moves: listOf(isUci),
  san: listOf(isText),
});

const isWarning = objectOf<Warning>({ code: isText, message: isText, field: optional(isText) });

const isFindings = objectOf<Findings>({
  score: isScore,
  best: isMove,
  ponder: optional(isMove),
  lines: (value): value is readonly AnalysisLine[] => listOf(isLine)(value) && value.length > 0,
  depth: isCount,
  seldepth: isCount,
  counters: objectOf({ nodes: isCount, nps: isCount, timeMs: isCount, hashfull: isCount, tbhits: isCount }),
  endedBy: oneOf("depth", "nodes"),
  deterministic: oneOf(true),
  warnings: listOf(isWarning),
});

const isProgress = objectOf<Pick<Findings, "endedBy" | "deterministic">>({
  endedBy: optional(oneOf("depth", "nodes", "time")),
  deterministic: isBoolean,
});
