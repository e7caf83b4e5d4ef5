import { GameService } from "../../../gen/chess/analysis/v1/game_service_pb.ts";
import type { MovesOfPgn, PlayedMoves } from "../../calls/rulebook.ts";
import { errorFromUnknown, errorFromViolations, type Violation } from "../../errors/errors.ts";
import { echo, nameOfJson } from "../../text/echo.ts";
import type { Plain } from "../../text/json.ts";
import { pointerStep } from "../../text/json-pointer.ts";
import { movesInText } from "../../text/moves-in-text.ts";
import { didYouMean } from "../../text/nearest-name.ts";
import type { Caller } from "./caller.ts";
import { movesMax, type ObjectSchema } from "./schema.ts";
import { jsonIn } from "./tidy-message.ts";

/** Removes null and empty arguments, and parses strings that contain JSON. Throws a KibitzError for an unknown argument. */
export function readArguments(sent: Plain, { properties, required }: ObjectSchema): Plain {
  const names = Object.keys(properties);
  const unknown = Object.keys(sent).filter((name) => !names.includes(name));
  if (unknown.length > 0) {
    throw errorFromViolations(unknown.map((name) => unknownArgument(name, names)));
  }
  return Object.fromEntries(
    Object.entries(sent).flatMap(([name, value]) => {
      const type = properties[name]?.type;
      const read = meantValue(value, type);
      const isAbsent = read === null || (isEmpty(read, type) && !required.includes(name));
      return isAbsent ? [] : [[name, read]];
    }),
  );
}

/** Parses a string that contains JSON, if the result is null or has the type in the schema. */
function meantValue(value: unknown, type: unknown): unknown {
  const read = type === "string" ? undefined : jsonIn(value);
  return read === null || (read !== undefined && hasType(read, type)) ? read : value;
}

function hasType(value: unknown, type: unknown): boolean {
  if (Array.isArray(value)) {
    return type === "array" && value.every((item) => typeof item === "string");
  }
  return type === "integer" ? Number.isInteger(value) : typeof value === type;
}

/** False for an empty list if the schema requires a text, because `{"fen": []}` is probably a mistake. */
function isEmpty(value: unknown, type: unknown): boolean {
  return typeof value === "string"
    ? value.trim() === ""
    : Array.isArray(value) && value.length === 0 && type !== "string";
}

interface CorrectedArguments {
  readonly args: Plain;
  readonly notes: readonly string[];
}

/**
 * Corrects each move or FEN that can have only one meaning. `notes` describe the changes. If the argument `chess960` is given,
 * rewrites the FEN so that it has this meaning without the argument.
 */
export async function correctArguments(sent: Plain, caller: Caller): Promise<CorrectedArguments> {
  const listed = withLists(sent);
  const corrected = await correctTexts(listed.args, caller);
  const { args, notes } = await withMeaningOf960(corrected.args, caller);
  return { args, notes: [...listed.notes, ...corrected.notes, ...notes] };
}

/** Splits moves that were sent as one text. */
function withLists(sent: Plain): CorrectedArguments {
  const texts = ["moves", "candidates"].flatMap((name) => {
    const text = sent[name];
    const moves = typeof text === "string" ? movesInText(text) : undefined;
    return moves ? [[name, moves] as const] : [];
  });
  return {
    args: { ...sent, ...Object.fromEntries(texts) },
    notes: texts.map(
      ([name, moves]) =>
        `\`${name}\` was read as a list: ${moves.slice(0, changesShown).join(", ")}${moves.length > changesShown ? " …" : ""}.`,
    ),
  };
}

async function withMeaningOf960({ chess960, ...args }: Plain, caller: Caller): Promise<CorrectedArguments> {
  if (chess960 === undefined) {
    return { args, notes: [] };
  }
  if (typeof chess960 !== "boolean") {
    throw wrongType("chess960", "must be true or false", chess960);
  }
  if (args.pgn !== undefined) {
    const message =
      "`chess960` belongs to `fen`: a PGN says in its tag Variant that it is a game of Chess960.";
    throw errorFromViolations([{ pointer: "/chess960", code: "invalid_type", message }]);
  }
  try {
    const { fen, warnings } = await caller.playUncounted({
      fen: playedMovesOf(args).fen,
      moves: [],
      chess960,
    });
    return { args: { ...args, fen }, notes: warnings };
  } catch (thrown) {
    if (errorFromUnknown(thrown).violations.length === 0) {
      throw thrown;
    }
    // The FEN is invalid. The call of the service reports its errors.
    return { args, notes: [] };
  }
}

async function correctTexts(sent: Plain, caller: Caller): Promise<CorrectedArguments> {
  const own = Array.isArray(sent.moves) ? sent.moves : [];
  const pasted = typeof sent.fen === "string" ? caller.readPastedFen(sent.fen, own) : undefined;
  const args: Plain = { ...sent, ...pasted };
  const behind = pasted?.moves ? ", and the moves behind it as `moves`" : "";
  const notes = pasted ? [`\`fen\` was read as ${pasted.fen}${behind}.`] : [];

  const { moves = [], candidates = [] } = args;
  if (!isShortList(moves, movesMax) || !isShortList(candidates, candidatesMax)) {
    return { args, notes };
  }
  const { fen } = playedMovesOf(args);
  const spelled = await spell({ fen, moves }, caller);
  const named = await spellCandidates(candidates, { fen, moves: spelled }, caller);
  const read = [...spelled, ...named];
  const changed = [...moves, ...candidates].flatMap((text, index) =>
    read[index]?.trim() === text.trim() ? [] : [`${echo(text, "'")} as ${read[index]}`],
  );
  if (changed.length === 0) {
    return { args, notes };
  }
  const first = `${changed.slice(0, changesShown).join(", ")}${changed.length > changesShown ? " and others" : ""}`;
  return {
    args: {
      ...args,
      ...(moves.length > 0 && { moves: spelled }),
      ...(candidates.length > 0 && { candidates: named }),
    },
    notes: [...notes, `Moves were read otherwise than written: ${first}.`],
  };
}

/** Longer lists of candidates are not corrected here, because they are rejected later. */
const candidatesMax = 10;
const changesShown = 10;

function isShortList(value: unknown, max: number): value is readonly string[] {
  return Array.isArray(value) && value.length <= max && value.every((text) => typeof text === "string");
}

/** Returns the corrected moves if each move has only one meaning. Otherwise returns the original moves. */
async function spell(from: PlayedMoves, caller: Caller): Promise<readonly string[]> {
  if (from.moves.every(caller.isPlainMove)) {
    return from.moves;
  }
  const played = await playIfValid(from, caller);
  const meant = played.kind === "violation" ? played.instead?.moves : undefined;
  return Array.isArray(meant) && meant.length === from.moves.length ? meant.map(String) : from.moves;
}

/** Corrects each candidate in the position after the moves. The moves are played once, because a game can be long. */
async function spellCandidates(
  candidates: readonly string[],
  from: PlayedMoves,
  caller: Caller,
): Promise<readonly string[]> {
  if (candidates.every(caller.isPlainMove)) {
    return candidates;
  }
  const played = await playIfValid(from, caller);
  if (played.kind === "violation") {
    return candidates;
  }
  const spelled: string[] = [];
  for (const candidate of candidates) {
    const [meant = candidate] = await spell({ fen: played.fen, moves: [candidate] }, caller);
    spelled.push(meant);
  }
  return spelled;
}

type Played =
  | { readonly kind: "played"; readonly fen: string }
  | { readonly kind: "violation"; readonly instead: Violation["instead"] };

/** Ignores an invalid game here, because the service rejects it later. Throws all other errors: for example, the client left. */
async function playIfValid(from: PlayedMoves, caller: Caller): Promise<Played> {
  try {
    const { fen } = await caller.playUncounted(from);
    return { kind: "played", fen };
  } catch (thrown) {
    const [violation] = errorFromUnknown(thrown).violations;
    if (violation === undefined) {
      throw thrown;
    }
    return { kind: "violation", instead: violation.instead };
  }
}

function unknownArgument(name: string, names: readonly string[]): Violation {
  const known = `the arguments are ${names.join(", ")}.`;
  const message = `There is no argument ${echo(name, "`")} here: ${didYouMean(name, names, known)}`;
  return { pointer: pointerStep(name), code: "unknown_field", message };
}

/** Returns the moves of the arguments `pgn` and `ply`, or undefined if there is no `pgn`. Throws a KibitzError. */
export async function readGameArguments(
  { pgn, ply, fen, moves }: Plain,
  caller: Caller,
): Promise<MovesOfPgn | undefined> {
  if (ply !== undefined && (typeof ply !== "number" || !Number.isInteger(ply) || ply < 0)) {
    throw wrongType("ply", "must be an integer of at least 0", ply);
  }
  if (pgn === undefined && ply !== undefined) {
    const message = "`ply` says where in `pgn` the position is: without it, send the moves until there.";
    throw errorFromViolations([{ pointer: "/ply", code: "out_of_range", message }]);
  }
  if (pgn === undefined) {
    return undefined;
  }
  // Check the PGN by the same rules as in a review.
  await caller.check(GameService.method.reviewGame, { pgn });
  if (fen !== undefined || moves !== undefined) {
    const message = "Send `pgn`, or `fen` and `moves`, and not both.";
    throw errorFromViolations([{ pointer: "/pgn", code: "invalid_pgn", message }]);
  }
  try {
    return await caller.readGame(String(pgn), ply);
  } catch (thrown) {
    const [violation] = errorFromUnknown(thrown).violations;
    const english: unknown = Object(violation?.allowed?.examples)[0];
    if (violation?.code !== "invalid_pgn" || typeof english !== "string") {
      throw thrown;
    }
    // The error has a suggestion only if the text has exactly one meaning.
    const { warnings = [], ...game } = await caller.readGame(english, ply);
    const note =
      english.length === String(pgn).length
        ? "The pieces of `pgn` have letters of another language, or its pawns have a letter."
        : "`pgn` was percent-encoded.";
    return { ...game, warnings: [note, ...warnings] };
  }
}

export function wrongType(name: string, must: string, value: unknown) {
  const message = `\`${name}\` ${must}, not ${nameOfJson(value)}.`;
  return errorFromViolations([{ pointer: `/${name}`, code: "invalid_type", message }]);
}

export function playedMovesOf({ fen, moves }: Plain): PlayedMoves {
  return {
    fen: typeof fen === "string" ? fen : "startpos",
    moves: Array.isArray(moves) ? moves.map(String) : [],
  };
}
