import { withSuggestion } from "../../calls/suggest.ts";
import { type Fault, KibitzError } from "../../errors/errors.ts";
import { keysOfPointer } from "../../text/json-pointer.ts";
import { durationText } from "../../text/plain-text.ts";
import { playedMovesOf } from "./arguments.ts";
import { describePosition, halfMovesText } from "./board.ts";
import type { Caller, Plain, PlayedMoves, PlayedPosition } from "./caller.ts";
import { moveText, nearestMoves } from "./nearest-moves.ts";
import { suggestionMaxCharacters, suggestionText } from "./suggestion-text.ts";
import { textOf } from "./text.ts";
import type { Tool } from "./tool.ts";
import { playMoves } from "./tools/play-moves.ts";

/** A call of a tool that would be answered. */
interface SuggestedCall {
  readonly tool: Tool;
  readonly arguments: Plain;
}

/** What a model is told of a call that was refused. */
export interface ToldError {
  readonly text: string;
  /** The same for programs, as far as the text is not enough. */
  readonly meta: Plain;
}

/** Most faults that are told. */
const faultsMax = 6;

/** Says what was wrong with a call so that whoever made it can mend it: with what was legal, and a call that works. */
export async function tellError(
  thrown: KibitzError,
  tool: Tool,
  args: Plain,
  caller: Caller,
): Promise<ToldError> {
  const error = inArguments(thrown);
  const illegal = await orNothing(() => lookBefore(error, args, caller));
  const suggested = await suggest(error, tool, args, caller, illegal);
  const { code, nextAction, retryAfterMs, upgrade } = error;
  return {
    text: textOf([
      `Not answered (${code}): ${messageOf(error)}`,
      retryAfterMs === undefined
        ? undefined
        : `Try the same call again in ${durationText(retryAfterMs / 1000)}.`,
      suggested && suggestionText(suggested.tool, suggested.arguments, args),
      upgrade && `An API key of the plan ${upgrade.plan} allows it: its user gets one at ${upgrade.url}.`,
      illegal && legalText(illegal),
    ]),
    meta: {
      "kibitz/error": { code, next_action: nextAction, retry_after_ms: retryAfterMs ?? null },
      ...(suggested && {
        "kibitz/suggested_call": { name: suggested.tool.name, arguments: suggested.arguments },
      }),
    },
  };
}

/** Where the service names its own field, it is an argument of another name that was wrong. */
function inArguments(error: KibitzError): KibitzError {
  const { code, message, faults, suggestedRequest, upgrade, nextAction, retryAfterMs } = error;
  const named = (text: string) => text.replaceAll("search_moves", "candidates");
  const told = new KibitzError(code, named(message), {
    faults: faults.map((fault) => ({
      ...fault,
      pointer: named(fault.pointer),
      message: named(fault.message),
    })),
    nextAction,
    ...(suggestedRequest && { suggestedRequest }),
    ...(upgrade && { upgrade }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    cause: error,
  });
  return told;
}

function messageOf({ message, faults }: KibitzError): string {
  const [first, ...more] = faults;
  if (first === undefined || more.length === 0) {
    return message;
  }
  const told = faults.slice(0, faultsMax).map((fault) => `- ${fault.message}`);
  const rest = faults.length - told.length;
  return ["several things are wrong.", ...told, ...(rest > 0 ? [`- and ${rest} more`] : [])].join("\n");
}

/** A move that is not legal, and the position in which it was to be played. */
interface IllegalMove {
  readonly written: string;
  readonly from: PlayedMoves;
  readonly before: PlayedPosition;
}

async function lookBefore(
  { faults }: KibitzError,
  args: Plain,
  caller: Caller,
): Promise<IllegalMove | undefined> {
  const fault = faults.find(({ code }) => code === "illegal_move");
  if (fault === undefined) {
    return undefined;
  }
  const place = await placeOf(fault, args, caller);
  return place && { ...place, before: await caller.look(place.from) };
}

interface PlaceInGame {
  readonly written: string;
  readonly from: PlayedMoves;
}

async function placeOf(
  { pointer, place, allowed }: Fault,
  args: Plain,
  caller: Caller,
): Promise<PlaceInGame | undefined> {
  const [name = "", index = ""] = keysOfPointer(pointer);
  const position = playedMovesOf(args);
  switch (name) {
    case "moves": {
      const moves = position.moves.slice(0, Number(index));
      return { written: position.moves[Number(index)] ?? "", from: { ...position, moves } };
    }
    case "candidates": {
      const written = Array.isArray(args.candidates) ? String(args.candidates[Number(index)]) : "";
      return { written, from: position };
    }
    case "pgn": {
      const [before]: readonly unknown[] = Array.isArray(allowed?.examples) ? allowed.examples : [];
      return typeof before === "string"
        ? { written: place?.token ?? "", from: await caller.lookThrough(before) }
        : undefined;
    }
    default:
      return undefined;
  }
}

function legalText({ written, before }: IllegalMove): string {
  const { legal, fen, played } = before;
  const shown = nearestMoves(written, legal);
  const which =
    shown.length < legal.length
      ? `The ${shown.length} nearest of ${legal.length} legal moves`
      : "Legal moves";
  const after = played.length === 0 ? "" : ` (after ${halfMovesText(played.length)})`;
  return `The position before it${after}: ${describePosition(fen)}\n\n${which} there: ${shown.map(moveText).join(", ") || "none"}`;
}

async function suggest(
  error: KibitzError,
  tool: Tool,
  args: Plain,
  caller: Caller,
  illegal: IllegalMove | undefined,
): Promise<SuggestedCall | undefined> {
  const mended = await mendedArguments(error, tool, args, caller);
  if (mended !== undefined) {
    return { tool, arguments: mended };
  }
  if (illegal === undefined) {
    return undefined;
  }
  // It shows what can be named.
  const { from, before } = illegal;
  const isShort = JSON.stringify(from).length <= suggestionMaxCharacters;
  return { tool: playMoves, arguments: isShort ? { ...from } : { fen: before.fen } };
}

async function mendedArguments(
  error: KibitzError,
  tool: Tool,
  args: Plain,
  caller: Caller,
): Promise<Plain | undefined> {
  const { suggestedRequest, faults } = error;
  const judge = (candidate: Plain) => tool.judge(candidate, caller);
  if (suggestedRequest) {
    const asked = tool.argumentsOf?.(suggestedRequest);
    const withPgn = asked && inPgn(asked, args);
    return (withPgn && (await orNothing(() => judge(withPgn).then(() => withPgn)))) ?? asked;
  }
  const { suggestedRequest: mended } = await withSuggestion(error, args, judge);
  if (mended) {
    return mended;
  }
  const pointers = faults.map(({ pointer }) => pointer);
  const without = pointers.length > 0 ? tool.without?.(args, pointers) : undefined;
  return without && orNothing(() => judge(without).then(() => without));
}

/** The game as its caller sent it, where the service was asked about its moves. */
function inPgn({ fen: _fen, moves: _moves, ...rest }: Plain, { pgn, ply }: Plain): Plain | undefined {
  return typeof pgn === "string" && rest.pgn === undefined
    ? { pgn, ...(typeof ply === "number" && { ply }), ...rest }
    : undefined;
}

/** Nothing where that, too, is refused. */
async function orNothing<T>(find: () => Promise<T>): Promise<T | undefined> {
  try {
    return await find();
  } catch (thrown) {
    if (thrown instanceof KibitzError) {
      return undefined;
    }
    throw thrown;
  }
}
