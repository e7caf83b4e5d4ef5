import { LRUCache } from "lru-cache";
import type { Position, PositionInput, Validation } from "../chess/position.ts";
import { errorFromPositionViolations } from "../chess/position-error.ts";
import { readSearchMoves } from "../chess/search-moves.ts";
import { movesAtOnce, validatePosition, validatePositionInSlices } from "../chess/validate-position.ts";
import type { Catalog } from "../engine/catalog.ts";
import type { EngineBuild } from "../engine/engine.ts";
import { profileOf, type SearchLimit } from "../engine/profiles.ts";
import { errorFromViolations } from "../errors/errors.ts";
import { echo } from "../text/echo.ts";
import { type BeginWork, inTurns } from "../thread/time-slices.ts";
import {
  type AllowedLimits,
  type AnalysisRequest,
  engineVersionDiffers,
  requestBounds,
  searchLimitOf,
  type ValidatedRequest,
  type Warning,
} from "./analysis.ts";
import { validateOptions } from "./validate-options.ts";

export interface KnownEngines {
  readonly catalog: Catalog;
  readonly validatePosition: PositionCache;
  available(build: EngineBuild): boolean;
}

/** Throws an error with all violations of the first invalid part: position, moves to search, engine, or options. */
export async function validateRequest(
  request: AnalysisRequest,
  engines: KnownEngines,
  allowed: AllowedLimits,
  check?: () => void,
): Promise<ValidatedRequest> {
  const { fen, moves, options } = request;
  const validation = await engines.validatePosition({ fen, moves, chess960: chess960Of(options) }, check);
  if (validation.kind === "violations") {
    throw errorFromPositionViolations(validation);
  }
  return validateSearch(request, validation.position, engines.catalog, allowed);
}

/** Uses `position` instead of the `fen` and `moves` of the request. */
export function validateSearch(
  request: AnalysisRequest,
  position: Position,
  catalog: Catalog,
  allowed: AllowedLimits,
): ValidatedRequest {
  const searchMoves = validateSearchMoves(request, position);
  const build = chooseBuild(request, catalog);
  checkVariant(position, build);
  checkDepth(request, build);
  const options = validateOptions(request.options, build.options);
  const limit = searchLimitOf(request, build, allowed);
  const multipv = request.multipv ?? requestBounds.multipv.default;
  return {
    position,
    movesPlayed: request.moves.length,
    build,
    ...limit,
    multipv,
    movetimeMs: request.movetimeMs,
    searchMoves,
    ...options,
    warnings: [
      ...position.warnings.map(withWayOut),
      ...(position.terminal
        ? []
        : [
            ...limitWarnings(request, limit, allowed),
            ...lineWarnings(multipv, linesMaxOf(position, searchMoves), build),
            ...engineWarnings(request, build, catalog),
            ...(options.weakened ? [strengthLimited] : []),
          ]),
    ],
  };
}

function withWayOut(warning: Position["warnings"][number]): Warning {
  return warning.code === "chess960_assumed"
    ? {
        ...warning,
        message: `${warning.message} To have the rights removed, set the option uci_chess960 to false.`,
      }
    : warning;
}

/** Undefined if the caller has not given the option: the position then decides. */
export function chess960Of({ uci_chess960: given }: AnalysisRequest["options"]): boolean | undefined {
  return typeof given === "boolean" ? given : undefined;
}

export function validateSearchMoves(
  { searchMoves }: AnalysisRequest,
  position: Position,
): ValidatedRequest["searchMoves"] {
  if (searchMoves.length === 0) {
    return searchMoves;
  }
  const reading = readSearchMoves(position, searchMoves);
  if (reading.kind === "violations") {
    throw errorFromViolations(
      reading.violations.map(({ index, message, legal }) => ({
        pointer: `/search_moves/${index}`,
        code: "illegal_move",
        message,
        ...(legal.length > 0 && { allowed: { enum: legal } }),
        ...(reading.spelled && { instead: { search_moves: reading.spelled } }),
      })),
    );
  }
  return reading.ucis;
}

function chooseBuild({ engine, path }: AnalysisRequest, catalog: Catalog): EngineBuild {
  const resolution = catalog.resolve(engine, path);
  switch (resolution.kind) {
    case "build":
      return resolution.build;
    case "unavailable":
      throw errorFromViolations([
        {
          pointer: "/engine",
          code: "unknown_engine",
          message: `The engine "${engine}" cannot run here: ${resolution.reason}`,
          allowed: { enum: idsOf(catalog) },
        },
      ]);
    case "unknown_engine": {
      const ids = idsOf(catalog);
      throw errorFromViolations([
        {
          pointer: "/engine",
          code: "unknown_engine",
          message: `${engine === "" ? "`engine` is empty" : `There is no engine ${echo(engine, '"')} here`}: the engines are ${ids.join(", ")}.`,
          allowed: { enum: ids },
        },
      ]);
    }
    case "path_unavailable":
      throw errorFromViolations([
        {
          pointer: "/path",
          code: "path_unavailable",
          message: `${engine === "latest" ? "No engine can" : `The engine "${engine}" cannot`} run on the path "${path}" here: omit \`path\`, or send "auto".`,
          allowed: { enum: ["auto", ...resolution.runnable] },
        },
      ]);
  }
}

function idsOf({ usable }: Catalog): readonly string[] {
  return ["latest", ...usable.map(({ id }) => id)];
}

/** An engine without support for Chess960 reports no error for a Chess960 position, but castles wrongly. */
function checkVariant({ chess960 }: Position, { id, options }: EngineBuild): void {
  if (chess960 && !options.some(({ name }) => name === "uci_chess960")) {
    throw errorFromViolations([
      {
        pointer: "/engine",
        code: "invalid_option",
        message: `The engine "${id}" does not play Chess960: choose one with "chess960" among its \`variants\` in GET /engines.`,
      },
    ]);
  }
}

function checkDepth({ depth }: AnalysisRequest, { id, family, defaultLimit }: EngineBuild): void {
  if (depth !== undefined && !profileOf(family).hasDepth) {
    throw errorFromViolations([
      {
        pointer: "/depth",
        code: "out_of_range",
        message: `The engine "${id}" does not search by depth: omit \`depth\`, and limit the search by \`nodes\` (${defaultLimit.nodes} by default) or \`movetime_ms\`.`,
      },
    ]);
  }
}

interface LinesMax {
  readonly linesMax: number;
  /** The reason for the maximum, as the beginning of a sentence. */
  readonly because: string;
}

function linesMaxOf({ legalMoveCount }: Position, searchMoves: ValidatedRequest["searchMoves"]): LinesMax {
  const moves = (count: number) => (count === 1 ? "move" : "moves");
  const named = searchMoves.length;
  return named === 0
    ? {
        linesMax: legalMoveCount,
        because: `The position has only ${legalMoveCount} legal ${moves(legalMoveCount)}`,
      }
    : { linesMax: named, because: `\`search_moves\` names only ${named} ${moves(named)}` };
}

/** Names the largest limit that the plan of the caller allows. */
function limitWarnings(
  { depth, nodes, movetimeMs }: AnalysisRequest,
  applied: SearchLimit,
  { depthMax, nodesMax }: AllowedLimits,
): readonly Warning[] {
  if (movetimeMs === undefined || depth !== undefined || nodes !== undefined) {
    return [];
  }
  const { field, limit, maximum, more } =
    applied.depth === undefined
      ? { field: "nodes", limit: applied.nodes, maximum: nodesMax, more: "more nodes" }
      : { field: "depth", limit: applied.depth, maximum: depthMax, more: "greater depth" };
  const wayOut =
    limit === maximum
      ? `Your plan allows no ${more}.`
      : `To search longer, set \`${field}\` to at most ${maximum}.`;
  return [
    {
      code: `default_${field}_applied`,
      message: `The default ${field} of ${limit} also applies and may end the search before movetime_ms. ${wayOut}`,
      field,
    },
  ];
}

function lineWarnings(
  multipv: number,
  { linesMax, because }: LinesMax,
  { id, linesMax: printedMax }: EngineBuild,
): readonly Warning[] {
  const field = "multipv";
  if (Math.min(multipv, linesMax) > printedMax) {
    const message = `The engine "${id}" can print only ${printedMax} ${printedMax === 1 ? "line" : "lines"} of a search.`;
    return [{ code: "multipv_unsupported", message, field }];
  }
  return multipv > linesMax
    ? [{ code: "multipv_reduced", message: `${because}, so there are no more lines.`, field }]
    : [];
}

/** A path can select an older version than `latest`, which the caller may not notice. */
function engineWarnings(
  { engine, path }: AnalysisRequest,
  build: EngineBuild,
  { latest }: Catalog,
): readonly Warning[] {
  return engine === "latest" && build.id !== latest.id
    ? [
        {
          code: engineVersionDiffers,
          message: `The engine "${build.id}" answers, because the latest, "${latest.id}", cannot run on the path "${path}" here. To choose a version, set \`engine\`.`,
          field: "path",
        },
      ]
    : [];
}

const strengthLimited: Warning = {
  code: "strength_limited",
  message: "The engine is playing below full strength: the best move may differ from every line.",
  field: "options",
};

/** Calls `check` between two time slices of a long game. If `check` throws, the promise rejects. */
type PositionCache = (input: PositionInput, check?: () => void) => Promise<Validation>;

/** The maximum total size of the cached positions. A FEN has the size 1 and uses about a kilobyte. Each move adds 1. */
const positionsMax = 2000;

/** Invalid positions are not cached. */
export function createPositionCache(beginWork: BeginWork): PositionCache {
  const remembered = new LRUCache<string, Validation>({ maxSize: positionsMax });
  return async (input, check) => {
    const { fen, moves, chess960 } = input;
    const key = JSON.stringify([chess960, fen, moves]);
    const known = remembered.get(key);
    if (known) {
      return known;
    }
    const validation =
      moves.length > movesAtOnce
        ? await inTurns(validatePositionInSlices(input), beginWork(check))
        : validatePosition(input);
    if (validation.kind === "position") {
      remembered.set(key, validation, { size: 1 + moves.length });
    }
    return validation;
  };
}
