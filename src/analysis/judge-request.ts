import type { PositionFault } from "../chess/position.ts";
import type { Catalog } from "../engine/catalog.ts";
import type { EngineBuild, EngineInfo } from "../engine/engine.ts";
import { errorFromFaults, type Fault } from "../errors/errors.ts";
import { echo } from "../text/plain-text.ts";
import { type AnalysisRequest, type JudgedRequest, requestBounds, type Warning } from "./analysis.ts";
import { judgeOptions } from "./judge-options.ts";
import type { PositionCache } from "./position-cache.ts";

/** What a request is judged against: the engine room's part, and who judges positions for it. */
export interface KnownEngines {
  readonly catalog: Catalog;
  readonly judgePosition: PositionCache;
  describe(build: EngineBuild): Promise<EngineInfo>;
  /** Whether engines of the build can be started at this time. */
  available(build: EngineBuild): boolean;
}

/**
 * Makes a request that can be run, or says everything that is wrong with it: first with its position,
 * then with its engine, path and options. No engine sees the request before.
 *
 * @param check is asked between the slices of a long game's judging, and throws what is to end it.
 * @throws KibitzError
 */
export async function judgeRequest(
  request: AnalysisRequest,
  engines: KnownEngines,
  check?: () => void,
): Promise<JudgedRequest> {
  const { fen, moves, options } = request;
  const judging = engines.judgePosition({ fen, moves, chess960: options.uci_chess960 === true }, check);
  // What is known at once costs no turn of the event loop.
  const judgement = judging instanceof Promise ? await judging : judging;
  if (judgement.kind === "faults") {
    const { suggestedFen } = judgement;
    const allowed = suggestedFen === undefined ? undefined : { examples: [suggestedFen] };
    throw errorFromFaults(judgement.faults.map((fault) => faultFromPosition(fault, allowed)));
  }
  const { position } = judgement;
  const build = chooseBuild(request, engines.catalog);
  if (position.chess960) {
    await judgeVariant(build, engines);
  }
  const judged = await judgeOptionsOf(options, build, engines);
  const multipv = request.multipv ?? requestBounds.multipv.default;
  return {
    position,
    build,
    depth: request.depth ?? requestBounds.depth.default,
    multipv,
    movetimeMs: request.movetimeMs,
    ...judged,
    warnings: [
      ...position.warnings,
      ...(position.terminal ? [] : warningsOf(request, multipv, position.legalMoveCount, judged.weakened)),
    ],
  };
}

function faultFromPosition({ field, index, code, message }: PositionFault, allowed: Fault["allowed"]): Fault {
  const pointer = index === undefined ? `/${field}` : `/${field}/${index}`;
  return { pointer, code, message, ...(allowed && { allowed }) };
}

function chooseBuild({ engine, path }: AnalysisRequest, catalog: Catalog): EngineBuild {
  const resolution = catalog.resolve(engine, path);
  switch (resolution.kind) {
    case "build":
      return resolution.build;
    case "unknown_engine": {
      const ids = ["latest", ...catalog.versions.map(({ id }) => id)];
      throw errorFromFaults([
        {
          pointer: "/engine",
          code: "unknown_engine",
          message: `${engine === "" ? "`engine` is empty" : `There is no engine "${echo(engine)}" here`}: the engines are ${ids.join(", ")}.`,
          allowed: { enum: ids },
        },
      ]);
    }
    case "path_unavailable":
      throw errorFromFaults([
        {
          pointer: "/path",
          code: "path_unavailable",
          message: `${engine === "latest" ? "No engine can" : `The engine "${engine}" cannot`} run on the path "${path}" here: omit \`path\`, or send "auto".`,
          allowed: { enum: ["auto", ...resolution.runnable] },
        },
      ]);
  }
}

/** An engine that does not know the variant would search on, and castle wrongly. */
async function judgeVariant(build: EngineBuild, engines: KnownEngines): Promise<void> {
  const { options } = await engines.describe(build);
  if (!options.some(({ name }) => name === "uci_chess960")) {
    throw errorFromFaults([
      {
        pointer: "/engine",
        code: "invalid_option",
        message: `The engine "${build.id}" does not play Chess960: choose one with "chess960" among its \`variants\` in GET /engines.`,
      },
    ]);
  }
}

async function judgeOptionsOf(
  options: AnalysisRequest["options"],
  build: EngineBuild,
  engines: KnownEngines,
): Promise<Pick<JudgedRequest, "options" | "effectiveOptions" | "weakened">> {
  if (Object.keys(options).length === 0) {
    return { options: {}, effectiveOptions: {}, weakened: false };
  }
  const judged = judgeOptions(options, (await engines.describe(build)).options);
  if (judged.kind === "faults") {
    throw errorFromFaults(judged.faults);
  }
  return { options: judged.values, effectiveOptions: judged.effective, weakened: judged.weakened };
}

function warningsOf(
  request: AnalysisRequest,
  multipv: number,
  legalMoves: number,
  weakened: boolean,
): readonly Warning[] {
  const warnings: Warning[] = [];
  if (request.movetimeMs !== undefined && request.depth === undefined) {
    warnings.push({
      code: "default_depth_applied",
      message: `The default depth of ${requestBounds.depth.default} also applies and may end the search before movetime_ms; set a greater depth to search on.`,
      field: "depth",
    });
  }
  if (multipv > legalMoves) {
    warnings.push({
      code: "multipv_reduced",
      message: `The position has only ${legalMoves} legal ${legalMoves === 1 ? "move" : "moves"}, so there are no more lines.`,
      field: "multipv",
    });
  }
  if (weakened) {
    warnings.push({
      code: "strength_limited",
      message: "The engine is playing below full strength: the best move may differ from every line.",
      field: "options",
    });
  }
  return warnings;
}
