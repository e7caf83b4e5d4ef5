import type { CallToolResult } from "@modelcontextprotocol/server";
import type { PlayedMoves, PlayedPosition } from "../../calls/rulebook.ts";
import { allowedByUpgrade, errorFromUnknown, type KibitzError } from "../../errors/errors.ts";
import { durationText } from "../../text/duration-text.ts";
import type { Plain } from "../../text/json.ts";
import { keysOfPointer } from "../../text/json-pointer.ts";
import { correctArguments, playedMovesOf, readArguments } from "./arguments.ts";
import type { Caller } from "./caller.ts";
import { shaped } from "./schema.ts";
import {
  boardOf,
  describePosition,
  halfMovesText,
  moveText,
  nearestMoves,
  notesText,
  textOf,
  turnOf,
} from "./text.ts";
import type { Report, Tool } from "./tool.ts";
import { playMoves } from "./tools/play-moves.ts";

interface CallToolOptions {
  readonly caller: Caller;
  readonly report?: Report | undefined;
  /** Aborted when the client no longer waits for the result. The call then rejects with the abort reason. */
  readonly signal: AbortSignal;
  /** Logs an error and counts it in the error quota. Must finish before the client gets the error. */
  readonly refused: (error: KibitzError) => Promise<void>;
}

/** An error that the client can fix becomes a result, because clients often hide protocol errors from the model. */
export async function callTool(tool: Tool, sent: Plain, options: CallToolOptions): Promise<CallToolResult> {
  let args = sent;
  try {
    args = readArguments(sent, tool.inputSchema);
    const corrected = await correctArguments(args, options.caller);
    args = corrected.args;
    const answer = await tool.call(args, options.caller, options.report);
    const text = textOf([notesText(corrected.notes, undefined), answer.text]);
    const { fen, warnings = [] } = answer.structured;
    const structured = { ...answer.structured, warnings: [...corrected.notes, ...(warnings as string[])] };
    const whole = shaped({ turn: turnOf(fen), board: boardOf(fen), ...structured }, tool.outputSchema);
    return { content: [{ type: "text", text }], structuredContent: whole as Record<string, unknown> };
  } catch (thrown) {
    options.signal.throwIfAborted();
    const error = errorFromUnknown(thrown);
    await options.refused(error);
    return explain(error, tool, args, options);
  }
}

/** Explains an error to the model, with the position, the nearest legal moves, and a call that would succeed. */
async function explain(
  error: KibitzError,
  tool: Tool,
  args: Plain,
  options: CallToolOptions,
): Promise<CallToolResult> {
  const illegal = findIllegalMove(error, args);
  const before = illegal && (await positionBefore(illegal, options));
  const { code, nextAction, retryAfterMs, upgrade, suggestedRequest } = error;
  const fixed = suggestedRequest && tool.argumentsOf ? tool.argumentsOf(suggestedRequest) : suggestedRequest;
  // If there is no corrected call, suggest a call of play_moves, which shows the legal moves.
  const shown = before && { name: playMoves.name, arguments: { ...illegal?.from } };
  const suggested = fixed ? { name: tool.name, arguments: fixed } : shown;
  const text = textOf([
    `Not answered (${code}): ${messageOf(error)}`,
    retryAfterMs === undefined
      ? undefined
      : `Try the same call again in ${durationText(retryAfterMs / 1000)}.`,
    upgrade &&
      `An API key of the plan ${upgrade.plan} allows ${allowedByUpgrade(code)}: its user gets one at ${upgrade.url}.`,
    illegal && before && legalText(illegal, before),
    suggested && `This call would be answered: ${suggested.name} ${JSON.stringify(suggested.arguments)}`,
  ]);
  return {
    content: [{ type: "text", text }],
    isError: true,
    _meta: {
      "kibitz/error": { code, next_action: nextAction, retry_after_ms: retryAfterMs ?? null },
      ...(suggested && { "kibitz/suggested_call": suggested }),
    },
  };
}

/** Returns the position before an illegal move. Returns undefined if the moves before this position cannot be played. */
async function positionBefore(
  { from }: IllegalMove,
  { caller, signal, refused }: CallToolOptions,
): Promise<PlayedPosition | undefined> {
  try {
    return await caller.playUncounted(from);
  } catch (thrown) {
    signal.throwIfAborted();
    const failure = errorFromUnknown(thrown);
    // Report only failures of the server. The earlier moves may also be illegal, which is not a failure.
    if (failure.code === "internal" && failure.cause !== undefined) {
      await refused(failure);
    }
    return undefined;
  }
}

const violationsMax = 6;

function messageOf({ message, violations }: KibitzError): string {
  const listed = violations.slice(0, violationsMax).map((violation) => `- ${violation.message}`);
  const rest = violations.length - listed.length;
  const lines = ["several things are wrong.", ...listed, ...(rest > 0 ? [`- and ${rest} more`] : [])];
  // The service has the name `search_moves` for the argument `candidates` of compare_moves.
  return (violations.length > 1 ? lines.join("\n") : message).replaceAll("search_moves", "candidates");
}

interface IllegalMove {
  readonly written: string;
  readonly plies: number;
  readonly from: PlayedMoves;
}

function findIllegalMove({ violations }: KibitzError, args: Plain): IllegalMove | undefined {
  const violation = violations.find(({ code }) => code === "illegal_move");
  if (violation === undefined) {
    return undefined;
  }
  const { pointer, place } = violation;
  const [name, index] = keysOfPointer(pointer);
  if (name === "pgn") {
    // Do not play the moves of a PGN again, because a long game takes time. The error already contains the FEN.
    return place?.fen === undefined
      ? undefined
      : { written: place.token, plies: (place.ply ?? 1) - 1, from: { fen: place.fen, moves: [] } };
  }
  const { fen, moves } = playedMovesOf(args);
  const isCandidate = name === "search_moves";
  const before = isCandidate ? moves : moves.slice(0, Number(index));
  const written = Object(isCandidate ? args.candidates : moves)[Number(index)];
  return { written: String(written), plies: before.length, from: { fen, moves: before } };
}

function legalText({ written, plies }: IllegalMove, { legal, fen }: PlayedPosition): string {
  const nearest = nearestMoves(written, legal);
  const which =
    nearest.length < legal.length
      ? `The ${nearest.length} nearest of ${legal.length} legal moves`
      : "Legal moves";
  const after = plies === 0 ? "" : ` (after ${halfMovesText(plies)})`;
  return `The position before it${after}: ${describePosition(fen)}\n\n${which} there: ${nearest.map(moveText).join(", ") || "none"}`;
}
