import type { JsonObject } from "@bufbuild/protobuf";
import { AnalysisService } from "../../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { boundsOfField, boundsOfList, type IntegerBounds, usualDepth } from "../../calls/rules.ts";

type Schema = JsonObject;

export type ObjectSchema = ReturnType<typeof objectSchema>;

/** Creates a schema of an object that has no other properties. By default, all properties are required. */
export function objectSchema(properties: Record<string, Schema>, required = Object.keys(properties)) {
  return { type: "object" as const, properties, required, additionalProperties: false };
}

export function nullable({ type = "object", ...schema }: Schema): Schema {
  return { ...schema, type: [type, "null"] };
}

export function listOf(items: Schema): Schema {
  return { type: "array", items };
}

export function answerSchema(properties: Record<string, Schema>): ObjectSchema {
  return objectSchema({
    fen: { ...result.text, description: "Six fields, as it can be sent back." },
    turn: { type: "string", enum: ["white", "black"] },
    board: { ...result.text, description: "White below; upper case is White." },
    ...properties,
    warnings: listOf(result.text),
  });
}

/** Copies only the properties that the schema names. A missing property becomes null. */
export function shaped(value: unknown, schema: Schema): unknown {
  const { properties, items } = schema as {
    readonly properties?: Record<string, Schema>;
    readonly items?: Schema;
  };
  if (items && Array.isArray(value)) {
    return value.map((item) => shaped(item, items));
  }
  if (properties && typeof value === "object" && value !== null) {
    const members: Readonly<Record<string, unknown>> = { ...value };
    return Object.fromEntries(
      Object.entries(properties).map(([name, property]) => [name, shaped(members[name], property)]),
    );
  }
  return value ?? null;
}

const text = { type: "string" };

const tableResult = {
  category: {
    type: "string",
    enum: ["win", "cursed_win", "draw", "blessed_loss", "loss"],
    description:
      "For the side to move there. The fifty-move rule makes a draw of cursed_win and blessed_loss.",
  },
  winner: { type: ["string", "null"], enum: ["white", "black", null] },
  dtz_plies: { type: ["integer", "null"], description: "Plies to the next capture, pawn move or mate." },
};

export const result = {
  text,
  integer: { type: "integer" },
  move: objectSchema({ san: text, uci: text }),
  score: objectSchema({
    text: { ...text, description: "With its side: White +1.35, Black mates in 3." },
    cp: { type: ["integer", "null"], description: "Centipawns, + is White's." },
    mate: { type: ["integer", "null"], description: "Moves to mate, + is White's." },
    win_percent: { type: "number", description: "White's chances, 0 to 100." },
  }),
  /** The result of the position in the endgame tables. */
  tablebase: nullable(objectSchema({ ...tableResult, men: { type: "integer" } })),
  /** The result of the position after a move in the endgame tables. */
  tablebaseAfter: nullable(objectSchema(tableResult)),
  gameOver: nullable(objectSchema({ reason: text, winner: nullable(text), result: text })),
} satisfies Record<string, Schema>;

const { field: fields } = AnalysisService.method.evaluate.input;

export function boundsOf(name: "depth" | "multipv" | "nodes"): IntegerBounds {
  return boundsOfField(fields[name], { minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
}

export const { maximum: movesMax } = boundsOfList(fields.moves);

export const argument = {
  fen: {
    type: "string",
    description:
      "Where the moves start: a FEN, or startpos (the default). Do not write a FEN by hand: copy one from an answer, or give moves instead.",
    default: "startpos",
    maxLength: 128,
  },
  moves: {
    type: "array",
    items: { type: "string", minLength: 1, maxLength: 16 },
    maxItems: movesMax,
    description: `Moves played from fen, SAN (Nf3) or UCI (g1f3), one item each, at most ${movesMax}. The position after them is meant.`,
    default: [],
  },
  chess960: {
    type: "boolean",
    description:
      "Whether fen is a Chess960 position. Leave it out: the castling rights and the moves say so in nearly all cases.",
  },
  depth: {
    type: "integer",
    ...boundsOf("depth"),
    // No `default`: the operator may describe an engine with another limit, such as nodes for Lc0.
    description: `Plies to search: 10 is quick, 20 takes a while. Stockfish's default is ${usualDepth}.`,
  },
  pgn: {
    type: "string",
    minLength: 1,
    description: `One game in PGN, instead of fen and moves: at most ${movesMax} half-moves, and 5000 moves with all variations.`,
  },
} satisfies Record<string, Schema>;
