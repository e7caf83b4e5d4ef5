import { type AnalysisRequest, type Engine, Path } from "../../../gen/chess/analysis/v1/analysis_pb.ts";
import { KibitzError } from "../../errors/errors.ts";
import { echo } from "../../text/echo.ts";

type Choice = Pick<AnalysisRequest, "engine" | "path">;

/** `latest` means the default engine, or the newest engine with the requested path. */
export function findEngine(
  engines: readonly Engine[],
  { engine: id = "latest", path }: Choice,
): Engine | undefined {
  const isAnyPath = path === Path.UNSPECIFIED || path === Path.AUTO;
  const withPath = engines.filter(({ paths }) => isAnyPath || paths.some((one) => one.path === path));
  return id === "latest"
    ? (withPath.find(({ latest }) => latest) ?? withPath[0])
    : withPath.find((one) => one.id === id);
}

/** Throws KibitzError if no engine matches, or if the engine cannot run. */
export function chooseEngine(engines: readonly Engine[], choice: Choice): Engine {
  const engine = findEngine(engines, choice);
  if (engine === undefined) {
    const ids = engines.map((one) => one.id).join(", ");
    const id = echo(choice.engine ?? "latest", '"');
    throw new KibitzError("unknown_engine", `There is no engine ${id}: the engines are ${ids}.`);
  }
  const reasons = engine.paths.map(({ unavailableReason }) => unavailableReason);
  if (reasons[0] !== undefined && !reasons.includes(undefined)) {
    throw new KibitzError("unknown_engine", `The engine "${engine.id}" cannot run here: ${reasons[0]}`);
  }
  return engine;
}
