import { type Engine, EngineStatus, NetSize, Path } from "../../../gen/chess/analysis/v1/analysis_pb.ts";
import { withoutControls } from "../../text/controls.ts";
import { type ApiOption, engineOptionsOf } from "../engine-option.ts";
import { wordOf } from "../report.ts";

export function reportOf(engine: Engine): string {
  const { id, name, status, latest, paths, defaultPath } = engine;
  const words = paths.map(({ path }) =>
    path === defaultPath && paths.length > 1 ? `${wordOf(Path, path)} (auto)` : wordOf(Path, path),
  );
  const network = paths.find(({ path }) => path === defaultPath)?.net ?? NetSize.UNSPECIFIED;
  const isUsable = paths.some(({ unavailableReason }) => unavailableReason === undefined);
  const lines = [
    `${id}${latest ? "  (latest)" : ""}${status === EngineStatus.DEPRECATED ? "  (deprecated)" : ""}`,
    `  name     ${name}`,
    `  paths    ${words.join(", ")}`,
    ...(isUsable
      ? [
          `  network  ${wordOf(NetSize, network)}`,
          `  limit    ${limitText(engine)}`,
          ...(engine.reproducible ? [] : ["  results  equal searches may differ"]),
        ]
      : []),
    ...paths.flatMap(({ path, unavailableReason: reason }) =>
      reason === undefined ? [] : [`  missing  ${wordOf(Path, path)}: ${reason}`],
    ),
    ...engineOptionsOf(engine).map(
      (option, index) => `  ${index === 0 ? "options" : "       "}  ${optionText(option)}`,
    ),
  ];
  return `${lines.map(withoutControls).join("\n")}\n\n`;
}

function limitText({ defaultLimit }: Engine): string {
  const { case: field, value } = defaultLimit?.limit ?? {};
  return field === undefined ? "none" : `${field} ${value}`;
}

function optionText(option: ApiOption): string {
  return option.kind === "boolean"
    ? `${option.name}: true or false (${option.default})`
    : `${option.name}: ${option.minimum} to ${option.maximum} (${option.default})`;
}
