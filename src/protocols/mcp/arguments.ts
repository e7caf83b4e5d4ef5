import { GameService } from "../../../gen/chess/analysis/v1/game_service_pb.ts";
import type { MovesOfPgn, PlayedMoves } from "../../calls/rulebook.ts";
import { errorFromFaults, type Fault } from "../../errors/errors.ts";
import { pointerStep } from "../../text/json-pointer.ts";
import { didYouMean } from "../../text/nearest-name.ts";
import { echo, nameOfJson, type Plain } from "../../text/plain-text.ts";
import type { Caller } from "./caller.ts";
import type { ObjectSchema } from "./schema.ts";
import { jsonIn } from "./tidy-message.ts";

/**
 * The arguments of a call, without those that are absent: null, and optional ones that are an empty text or list. A list, integer or
 * boolean that is JSON in a string is read. The service validates the values.
 *
 * @throws KibitzError
 */
export function readArguments(sent: Plain, { properties, required }: ObjectSchema): Plain {
  const names = Object.keys(properties);
  const unknown = Object.keys(sent).filter((name) => !names.includes(name));
  if (unknown.length > 0) {
    throw errorFromFaults(unknown.map((name) => unknownArgument(name, names)));
  }
  const read = Object.entries(sent).map(([name, value]) => [name, meantValue(value, properties[name]?.type)]);
  return Object.fromEntries(
    read.filter(([name, value]) => value !== null && (required.includes(String(name)) || !isEmpty(value))),
  );
}

/** The value that is meant. @param type the type of the argument in its schema */
function meantValue(value: unknown, type: unknown): unknown {
  const read = type === "string" ? undefined : jsonIn(value);
  const isMeant =
    type === "array"
      ? Array.isArray(read) && read.every((item) => typeof item === "string")
      : type === "integer"
        ? Number.isInteger(read)
        : typeof read === type;
  return read === null || (read !== undefined && isMeant) ? read : value;
}

function isEmpty(value: unknown): boolean {
  return (typeof value === "string" && value.trim() === "") || (Array.isArray(value) && value.length === 0);
}

function unknownArgument(name: string, names: readonly string[]): Fault {
  const known = `the arguments are ${names.join(", ")}.`;
  const message = `There is no argument \`${echo(name)}\` here: ${didYouMean(name, names, known)}`;
  return { pointer: pointerStep(name), code: "unknown_field", message };
}

/**
 * The game that arguments name by `pgn` and `ply`, if they do.
 *
 * @throws KibitzError
 */
export async function readGameArguments(
  { pgn, ply, fen, moves }: Plain,
  caller: Caller,
): Promise<MovesOfPgn | undefined> {
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
  if (fen !== undefined || moves !== undefined) {
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
