import { ConnectError } from "@connectrpc/connect";
import type { PlanLimits } from "../../../gen/chess/analysis/v1/analysis_pb.ts";
import type { Fault, Problem } from "../../../gen/chess/analysis/v1/problem_pb.ts";
import { failureOf } from "../client/problem.ts";
import { rateLimitsFrom, reviewPliesMaxOf } from "../client/rate-limits.ts";
import { plainWords } from "../parts/plain-words.ts";

interface ProblemWords {
  readonly title: string;
  /** Empty if the title explains the problem completely. */
  readonly details: readonly string[];
}

interface Caller {
  /** Undefined until the plans are loaded. */
  readonly limits: PlanLimits | undefined;
  readonly searchMoves: readonly string[];
}

interface FieldWords {
  readonly label: string;
  /** Returns, for example, `depth above 20`, where 20 is the largest value that the plan allows. */
  readonly excess?: (most: number) => string;
  /** Returns, for example, `to depth 12`. */
  readonly change?: (value: number) => string;
}

const linesField: FieldWords = {
  label: "Lines",
  excess: (most) => `more than ${lines(most)}`,
  change: (value) => `with ${lines(value)}`,
};
const excessOfGame = (most: number) => `a game of more than ${Math.floor(most / 2)} moves`;

const fields: Readonly<Record<string, FieldWords>> = {
  depth: { label: "Depth", excess: (most) => `depth above ${most}`, change: (value) => `to depth ${value}` },
  multipv: linesField,
  lines: linesField,
  movetime_ms: {
    label: "Time",
    excess: (most) => `more than ${grouped(most)} ms`,
    change: (value) => `for ${grouped(value)} ms`,
  },
  nodes: {
    label: "Nodes",
    excess: (most) => `more than ${grouped(most)} nodes`,
    change: (value) => `with ${grouped(value)} nodes`,
  },
  engine: { label: "Engine" },
  path: { label: "Build" },
  search_moves: { label: "Only these moves" },
  fen: { label: "FEN" },
  pgn: { label: "PGN", excess: excessOfGame },
  moves: { label: "Moves", excess: excessOfGame },
};

/** Returns undefined if the page aborted the call. */
export function problemWords(error: unknown, caller: Caller): ProblemWords | undefined {
  const failure = failureOf(error);
  switch (failure.kind) {
    case "aborted":
      return undefined;
    case "lost":
      return {
        title: "The service does not answer",
        details: ["It may be stopped, or this device has no network."],
      };
    case "foreign":
      return {
        title: "Something else answered",
        details: [`Not the service answered, but perhaps a proxy in front of it: ${failure.said}`],
      };
    case "problem":
      return wordsOf(failure.problem, ConnectError.from(error).metadata, caller);
  }
}

function wordsOf(problem: Problem, headers: Headers, { limits, searchMoves }: Caller): ProblemWords {
  const { code, title, detail, errors, nextAction, upgrade } = problem;
  const offers = upgrade ? [`With a key of the plan “${upgrade.plan}”, you may ask more often.`] : [];
  switch (code) {
    case "rate_limited":
      return { title: rateInWords(headers, limits), details: [...reviewInWords(headers), ...offers] };
    case "quota_exhausted":
      return { title: "The engine time of your plan is used up", details: offers };
    case "concurrency_limited":
      return { title: searchesInWords(limits?.concurrent), details: offers };
    case "api_key_required":
      return {
        title: "A key is needed",
        details:
          nextAction === "get_api_key"
            ? []
            : ["This server is for holders of a key. Ask its owner for one, then enter it here."],
      };
    case "body_too_large":
      // The page sends no other text that can be too large.
      return {
        title: "This game has too much text",
        details: ["Delete comments or variations, and try again. A game of moves alone is never too large."],
      };
    case "upgrade_needed": {
      const excess = excessOf(problem, limits);
      const isFree = nextAction === "get_api_key";
      return excess.length === 0 || excess.includes(undefined)
        ? { title, details: [detail] }
        : {
            title: `${isFree ? "A free key is needed for" : "Your plan does not allow"} ${excess.join(" and ")}`,
            details: [],
          };
    }
    default:
      return {
        title,
        details:
          errors.length === 0
            ? [detail]
            : errors.map((violation) => wordsOfViolation(violation, errors, { limits, searchMoves })),
      };
  }
}

function rateInWords(headers: Headers, limits: PlanLimits | undefined): string {
  const [used] = rateLimitsFrom(headers);
  const unit = limits?.rates.find(({ name }) => name === used?.name)?.unit;
  if (used?.quota === undefined || used.windowS === undefined || unit !== "request") {
    return "Too many requests";
  }
  const time = used.windowS === 60 ? "a minute" : `in ${duration(used.windowS * 1000)}`;
  return `Too fast: ${grouped(used.quota)} ${used.quota === 1 ? "position" : "positions"} ${time}`;
}

/** Only a review counts as several requests, so that some can be left. */
function reviewInWords(headers: Headers): readonly string[] {
  const [{ remaining = 0 } = {}] = rateLimitsFrom(headers);
  const left = remaining === 1 ? "1 is" : `${grouped(remaining)} are`;
  return remaining === 0 ? [] : [`A review counts once for every ten positions, and only ${left} left.`];
}

function searchesInWords(count: number | undefined): string {
  if (count === 1) {
    return "A search is already running from this network";
  }
  const many = count === undefined ? "Other" : ({ 2: "Two", 3: "Three", 4: "Four" }[count] ?? grouped(count));
  return `${many} searches are already running from this network`;
}

function wordsOfViolation(
  { pointer, code, message, allowed, line }: Fault,
  errors: readonly Fault[],
  { limits, searchMoves }: Caller,
): string {
  const [name = "", ...path] = keysOf(pointer);
  const move = name === "search_moves" ? searchMoves[Number(path[0])] : undefined;
  if (move !== undefined) {
    return `“${move}” in “Only these moves” is not legal here.`;
  }
  const { label } = fields[name] ?? {};
  const { minimum, maximum } = allowed ?? {};
  if (label && code === "out_of_range" && typeof minimum === "number" && typeof maximum === "number") {
    const most = Math.min(maximum, planMaximum(limits, name) ?? maximum);
    return `${label} must be from ${grouped(minimum)} to ${grouped(most)}.`;
  }
  // A message with a line number already names the field.
  const isAlone = errors.length === 1 || line !== undefined;
  const said = plainWords(message);
  return isAlone ? said : `${label ?? [name, ...path].join(".")}: ${said}`;
}

function planMaximum(limits: PlanLimits | undefined, name: string): number | undefined {
  const most = { depth: limits?.depthMax, multipv: limits?.multipvMax, lines: limits?.multipvMax }[name];
  return most || undefined;
}

/** Returns a text for each error, such as `depth above 20`. The text is undefined if the field is unknown. */
function excessOf({ errors }: Problem, limits: PlanLimits | undefined) {
  return errors.map(({ pointer, allowed }) => {
    const name = nameOf(pointer);
    const maximum = isGame(name) ? limits && reviewPliesMaxOf(limits) : allowed?.maximum;
    return typeof maximum === "number" ? fields[name]?.excess?.(maximum) : undefined;
  });
}

/** Returns the label of the button that sends the corrected request. */
export function suggestionWords(problem: Problem, limits: PlanLimits | undefined): string {
  const { code, errors, suggestedRequest = {} } = problem;
  const names = [...new Set(errors.map(({ pointer }) => nameOf(pointer)))];
  const changes = names.map((name) => {
    const value = suggestedRequest[name];
    return typeof value === "number" ? fields[name]?.change?.(value) : undefined;
  });
  if (changes.length > 0 && !changes.includes(undefined)) {
    return `Analyse ${changes.join(" ")}`;
  }
  const [name = ""] = names;
  if (isGame(name)) {
    return code === "upgrade_needed" && limits
      ? firstMoves(reviewPliesMaxOf(limits))
      : "Review the game up to there";
  }
  const { fen } = suggestedRequest;
  return name === "fen" && typeof fen === "string" ? `Use ${fen}` : "Ask what the service suggests";
}

/** Returns the label of the button that reviews the beginning of a game. */
export function firstMoves(plies: number): string {
  return `Review the first ${Math.floor(plies / 2)} moves`;
}

/** Returns the relative address of the page in this service that explains the error. */
export function pageOf({ type }: Problem): string | undefined {
  return /^\/problems\/[\w-]+$/.test(type) ? type.slice(1) : undefined;
}

/** Formats a duration, rounded up: `45 s`, `3 min 20 s`, `5 h 2 min`. */
export function duration(ms: number): string {
  const all = Math.ceil(ms / 1000);
  const [hours, minutes, seconds] = [Math.floor(all / 3600), Math.floor(all / 60) % 60, all % 60];
  return hours > 0
    ? `${hours} h ${minutes} min`
    : minutes > 0
      ? `${minutes} min ${seconds} s`
      : `${seconds} s`;
}

function isGame(name: string): boolean {
  return name === "pgn" || name === "moves";
}

function nameOf(pointer: string): string {
  return keysOf(pointer)[0] ?? "";
}

/** Splits a JSON Pointer. Names of request fields contain no escaped characters. */
function keysOf(pointer: string): readonly string[] {
  return pointer.split("/").slice(1);
}

function grouped(number: number): string {
  return number.toLocaleString("en");
}

function lines(count: number): string {
  return count === 1 ? "1 line" : `${count} lines`;
}
