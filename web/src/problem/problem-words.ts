import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { ConnectError } from "@connectrpc/connect";
import type { PlanLimits } from "../../../gen/chess/analysis/v1/analysis_pb.ts";
import type { Fault, Problem } from "../../../gen/chess/analysis/v1/problem_pb.ts";
import { failureOf } from "../client/problem.ts";
import { rateLimitsFrom } from "../client/rate-limits.ts";
import { texts } from "../texts.ts";

const words = texts.problem;

/** A failure in words for people. */
export interface ProblemWords {
  readonly title: string;
  /** Empty if the title says everything. */
  readonly details: readonly string[];
}

/** The part of the page's state that words depend on. */
interface Caller {
  /** The limits of the plan; undefined while they are unknown. */
  readonly limits: PlanLimits | undefined;
  /** The moves of the field "Only these moves". */
  readonly searchMoves: readonly string[];
}

/** Returns what a caller reads about a failed call; undefined if the page aborted it. */
export function problemWords(error: unknown, caller: Caller): ProblemWords | undefined {
  const failure = failureOf(error);
  switch (failure.kind) {
    case "aborted":
      return undefined;
    case "lost":
      return { title: words.lost, details: [words.lostDetail] };
    case "foreign":
      return { title: words.foreign, details: [words.foreignDetail(failure.said)] };
    case "problem":
      return wordsOf(failure.problem, ConnectError.from(error).metadata, caller);
  }
}

function wordsOf(problem: Problem, headers: Headers, caller: Caller): ProblemWords {
  const { code, title, detail, errors, nextAction } = problem;
  const { limits, searchMoves } = caller;
  switch (code) {
    case "rate_limited": {
      const used = rateLimitsFrom(headers).find(({ remaining }) => remaining === 0);
      const unit = limits?.rates.find(({ name }) => name === used?.name)?.unit;
      return {
        title:
          used?.quota !== undefined && used.windowS !== undefined && unit === "request"
            ? words.tooFast(used.quota, duration(used.windowS * 1000))
            : words.tooManyRequests,
        details: [],
      };
    }
    case "quota_exhausted":
      return { title: words.engineTimeUsedUp, details: [] };
    case "concurrency_limited":
      return { title: words.searchesRunning(limits?.concurrent), details: [] };
    case "api_key_required":
      return { title: words.keyRequired, details: nextAction === "get_api_key" ? [] : [words.keyOfOwner] };
    case "upgrade_needed": {
      const excess = excessOf(problem, limits);
      return excess.length === 0 || excess.includes(undefined)
        ? { title, details: [detail] }
        : { title: words.beyondPlan(excess, nextAction === "get_api_key"), details: [] };
    }
    default:
      return { title, details: errors.length === 0 ? [detail] : errors.map(wordsOfViolation) };
  }

  function wordsOfViolation({ pointer, message, line }: Fault): string {
    const [name = "", ...path] = keysOf(pointer);
    const move = name === "search_moves" ? searchMoves[Number(path[0])] : undefined;
    if (move !== undefined) {
      return words.illegalSearchMove(move);
    }
    // A message about a text names the place.
    const isAlone = errors.length === 1 || line !== undefined;
    return isAlone ? message : `${words.fields[name] ?? [name, ...path].join(".")}: ${message}`;
  }
}

/** Lists what the plan does not allow, such as `depth above 20`; undefined for a field that the page has no words for. */
function excessOf({ errors }: Problem, limits: PlanLimits | undefined) {
  return errors.map(({ pointer, allowed }) => {
    const name = nameOf(pointer);
    const maximum = isGame(name) ? limits?.reviewPliesMax : memberOf(allowed ?? {}, "maximum");
    return typeof maximum === "number" ? words.excess[name]?.(maximum) : undefined;
  });
}

/** Returns the words of a button that sends the suggested request. */
export function suggestionWords(problem: Problem, limits: PlanLimits | undefined): string {
  const { code, errors, suggestedRequest = {} } = problem;
  const names = [...new Set(errors.map(({ pointer }) => nameOf(pointer)))];
  const changes = names.map((name) => {
    const value = memberOf(suggestedRequest, name);
    return typeof value === "number" ? words.change[name]?.(value) : undefined;
  });
  if (changes.length > 0 && !changes.includes(undefined)) {
    return words.analyse(changes.join(" "));
  }
  const [name = ""] = names;
  if (isGame(name)) {
    return code === "upgrade_needed" && limits ? words.firstMoves(limits.reviewPliesMax) : words.upToThere;
  }
  const value = memberOf(suggestedRequest, name);
  return name === "fen" && typeof value === "string" ? words.useFen(value) : words.sendSuggested;
}

/** The address of the page that explains a kind of problem, beside this page; undefined if it is none of this service. */
export function pageOf({ type }: Problem): string | undefined {
  return /^\/problems\/[\w-]+$/.test(type) ? type.slice(1) : undefined;
}

/** A duration, rounded up: `45 s`, `3 min 20 s`, `5 h 2 min`. */
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

/** The keys that a JSON Pointer passes. */
function keysOf(pointer: string): readonly string[] {
  return pointer
    .split("/")
    .slice(1)
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"));
}

function memberOf(object: JsonObject, name: string): JsonValue | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}
