import { AnalysisService } from "../../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { GameService } from "../../../gen/chess/analysis/v1/game_service_pb.ts";
import type { PlayedMoves } from "../../calls/rulebook.ts";
import { boundsOfField, boundsOfList, type IntegerBounds } from "../../calls/rules.ts";
import { errorFromFaults, type Fault } from "../../errors/errors.ts";
import { pointerStep } from "../../text/json-pointer.ts";
import { didYouMean, nearestName } from "../../text/nearest-name.ts";
import { echo, nameOfJson } from "../../text/plain-text.ts";
import type { Caller, Plain } from "./caller.ts";
import type { ObjectSchema, Schema } from "./tool.ts";

const request = AnalysisService.method.evaluate.input;

function fieldOf(name: string) {
  const field = request.fields.find((one) => one.name === name);
  if (field === undefined) {
    throw new TypeError(`${request.typeName} has no field ${name}`);
  }
  return field;
}

/** The bounds of a field, by its proto. */
export function boundsOf(name: string): IntegerBounds {
  return boundsOfField(fieldOf(name), { minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
}

const { maximum: movesMax } = boundsOfList(fieldOf("moves"));

/** The schemas of arguments that several tools have. */
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
  depth: {
    type: "integer",
    ...boundsOf("depth"),
    default: 14,
    description: "How deep to search, in plies. 10 is quick, 14 is good, 20 takes a while.",
  },
  pgn: {
    type: "string",
    minLength: 1,
    description: `One game in PGN, instead of fen and moves: at most ${movesMax} half-moves, and 5000 moves with all variations.`,
  },
} satisfies Record<string, Schema>;

/**
 * The arguments of a call without those that are null, which means absent. The service validates their values.
 *
 * @throws KibitzError
 */
export function readArguments(sent: Plain, { properties }: ObjectSchema): Plain {
  const names = Object.keys(properties);
  const given = Object.entries(sent).filter(([, value]) => value !== null);
  const unknown = Object.keys(sent).filter((name) => !names.includes(name));
  if (unknown.length > 0) {
    throw errorFromFaults(unknown.map((name) => unknownArgument(name, names)));
  }
  return Object.fromEntries(given);
}

function unknownArgument(name: string, names: readonly string[]): Fault {
  const known = `the arguments are ${names.join(", ")}.`;
  const message = `There is no argument \`${echo(name)}\` here: ${didYouMean(name, names, known)}`;
  const meant = nearestName(name, names);
  return { pointer: pointerStep(name), code: "unknown_field", message, ...(meant && { meant }) };
}

/**
 * The game that arguments name by `pgn` and `ply`, if they do.
 *
 * @throws KibitzError
 */
export async function readGameArguments(
  { pgn, ply, fen, moves }: Plain,
  caller: Caller,
): Promise<PlayedMoves | undefined> {
  if (ply !== undefined && (typeof ply !== "number" || !Number.isInteger(ply) || ply < 0)) {
    throw wrongType("ply", "must be an integer of at least 0", ply);
  }
  if (pgn === undefined && ply !== undefined) {
    const message = "`ply` says where in `pgn` the position is: without it, send the moves until there.";
    throw errorFromFaults([{ pointer: "/ply", code: "out_of_range", message }]);
  }
  if (pgn === undefined) {
    return undefined;
  }
  // The rules of a game in PGN are those of a review.
  await caller.check(GameService.method.reviewGame, { pgn });
  if (fen !== undefined || (moves !== undefined && !(Array.isArray(moves) && moves.length === 0))) {
    const message = "Send `pgn`, or `fen` and `moves`, and not both.";
    throw errorFromFaults([{ pointer: "/pgn", code: "invalid_pgn", message }]);
  }
  return caller.readGame(String(pgn), ply);
}

export function wrongType(name: string, must: string, value: unknown) {
  const message = `\`${name}\` ${must}, not ${nameOfJson(value)}.`;
  return errorFromFaults([{ pointer: `/${name}`, code: "invalid_type", message }]);
}

/** The position that arguments name by `fen` and `moves`. Their values have been validated. */
export function playedMovesOf({ fen, moves }: Plain): PlayedMoves {
  return {
    fen: typeof fen === "string" ? fen : "startpos",
    moves: Array.isArray(moves) ? moves.map(String) : [],
  };
}
