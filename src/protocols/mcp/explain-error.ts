import type { PlayedMoves, PlayedPosition } from "../../calls/rulebook.ts";
import { withSuggestion } from "../../calls/suggest.ts";
import { errorFromUnknown, type KibitzError } from "../../errors/errors.ts";
import { keysOfPointer } from "../../text/json-pointer.ts";
import { durationText } from "../../text/plain-text.ts";
import { playedMovesOf } from "./arguments.ts";
import type { Caller, Plain } from "./caller.ts";
import { describePosition, halfMovesText, moveText, nearestMoves, textOf } from "./text.ts";
import type { Tool } from "./tool.ts";
import { playMoves } from "./tools/play-moves.ts";

/** An error of a tool, for a model. */
interface ExplainedError {
  readonly text: string;
  /** The same for programs, as far as the text is not enough. */
  readonly meta: Plain;
}

/** Most faults of one error that a text lists. */
const faultsMax = 6;

/**
 * Explains an error so that the model can fix its call: with what was wrong, the position, the nearest legal moves, and a call that would
 * be answered.
 *
 * @param failed gets the internal error if the explanation itself fails: then the text has less
 */
export async function explainError(
  error: KibitzError,
  tool: Tool,
  args: Plain,
  caller: Caller,
  failed: (error: KibitzError) => Promise<void>,
): Promise<ExplainedError> {
  async function attempt<T>(find: () => Promise<T>): Promise<T | undefined> {
    try {
      return await find();
    } catch (thrown) {
      const { code, cause } = errorFromUnknown(thrown);
      if (code === "internal" && cause !== undefined) {
        await failed(errorFromUnknown(thrown));
      }
      return undefined;
    }
  }
  const illegal = findIllegalMove(error, args);
  const before = illegal && (await attempt(() => caller.look(illegal.from)));
  const fixed = await attempt(() => fixArguments(error, tool, args, caller));
  // If the call cannot be fixed, play_moves shows the legal moves.
  const shown = before && { name: playMoves.name, arguments: { ...illegal?.from } };
  const suggested = fixed ? { name: tool.name, arguments: fixed } : shown;
  const { code, nextAction, retryAfterMs, upgrade } = error;
  return {
    text: textOf([
      `Not answered (${code}): ${messageOf(error)}`,
      retryAfterMs === undefined
        ? undefined
        : `Try the same call again in ${durationText(retryAfterMs / 1000)}.`,
      upgrade && `An API key of the plan ${upgrade.plan} allows it: its user gets one at ${upgrade.url}.`,
      illegal && before && legalText(illegal, before),
      suggested && `This call would be answered: ${suggested.name} ${JSON.stringify(suggested.arguments)}`,
    ]),
    meta: {
      "kibitz/error": { code, next_action: nextAction, retry_after_ms: retryAfterMs ?? null },
      ...(suggested && { "kibitz/suggested_call": suggested }),
    },
  };
}

function messageOf({ message, faults }: KibitzError): string {
  const listed = faults.slice(0, faultsMax).map((fault) => `- ${fault.message}`);
  const rest = faults.length - listed.length;
  const lines = ["several things are wrong.", ...listed, ...(rest > 0 ? [`- and ${rest} more`] : [])];
  // The service has another name for the candidates of compare_moves.
  return (faults.length > 1 ? lines.join("\n") : message).replaceAll("search_moves", "candidates");
}

/** A move that is not legal. */
interface IllegalMove {
  readonly written: string;
  /** How many half-moves of the game come before it. */
  readonly plies: number;
  /** The position in which it was to be played. */
  readonly from: PlayedMoves;
}

function findIllegalMove({ faults }: KibitzError, args: Plain): IllegalMove | undefined {
  const fault = faults.find(({ code }) => code === "illegal_move");
  if (fault === undefined) {
    return undefined;
  }
  const { pointer, place } = fault;
  const [name, index] = keysOfPointer(pointer);
  if (name === "pgn") {
    // To read and play a long game again would take longer than to find its error.
    return place && "fen" in place
      ? { written: place.token, plies: place.ply - 1, from: { fen: place.fen, moves: [] } }
      : undefined;
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

/** The arguments of the nearest call of the same tool that would be answered, if there is one. */
async function fixArguments(
  error: KibitzError,
  tool: Tool,
  args: Plain,
  caller: Caller,
): Promise<Plain | undefined> {
  const { suggestedRequest, faults } = error;
  if (suggestedRequest) {
    return tool.argumentsOf ? tool.argumentsOf(suggestedRequest) : suggestedRequest;
  }
  const judge = (candidate: Plain) => tool.judge(candidate, caller);
  const fixed = await withSuggestion(error, args, judge);
  if (fixed.suggestedRequest) {
    return fixed.suggestedRequest;
  }
  const pointers = faults.map(({ pointer }) => pointer);
  const without = tool.without?.(args, pointers);
  await (without && judge(without));
  return without;
}
