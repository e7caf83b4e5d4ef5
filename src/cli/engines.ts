import { createClient } from "@connectrpc/connect";
import { type Engine, EngineStatus, NetSize, Path } from "../../gen/chess/analysis/v1/analysis_pb.ts";
import {
  AnalysisService,
  ListEnginesResponseSchema,
} from "../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { createMessageWriter } from "../calls/plain/write-message.ts";
import { withoutControls } from "../text/controls.ts";
import { ask } from "./ask.ts";
import { type Command, exitCode } from "./command.ts";
import { type ApiOption, engineOptionsOf } from "./engine-option.ts";
import { orPrintError } from "./print-error.ts";
import { remoteOptions } from "./remote-address.ts";
import { wordOf } from "./report.ts";

export const enginesCommand: Command = {
  usage: "engines",
  about: "List the available engines, newest first, with their options.",
  options: {
    json: { type: "boolean", about: "print the answer of GET /engines as one line of JSON" },
    ...remoteOptions,
  },
  notes: ["With --url, lists the engines of a running service."],
  async run(input) {
    const { values, signal, host } = input;
    return orPrintError(input, async () => {
      await using service = await ask(input);
      const list = await createClient(AnalysisService, service.transport).listEngines({}, { signal });
      const write = createMessageWriter(ListEnginesResponseSchema);
      host.stdout.write(
        values.json ? `${withoutControls(write(list))}\n` : list.engines.map(reportOf).join(""),
      );
      return exitCode.ok;
    });
  },
};

function reportOf(engine: Engine): string {
  const { id, name, status, latest, paths, defaultPath } = engine;
  const words = paths.map(({ path }) =>
    path === defaultPath && paths.length > 1 ? `${wordOf(Path, path)} (auto)` : wordOf(Path, path),
  );
  const network = paths.find(({ path }) => path === defaultPath)?.net ?? NetSize.UNSPECIFIED;
  const lines = [
    `${id}${latest ? "  (latest)" : ""}${status === EngineStatus.DEPRECATED ? "  (deprecated)" : ""}`,
    `  name     ${name}`,
    `  paths    ${words.join(", ")}`,
    `  network  ${wordOf(NetSize, network)}`,
    ...engineOptionsOf(engine).map(
      (option, index) => `  ${index === 0 ? "options" : "       "}  ${optionText(option)}`,
    ),
  ];
  return `${lines.map(withoutControls).join("\n")}\n\n`;
}

function optionText(option: ApiOption): string {
  return option.kind === "boolean"
    ? `${option.name}: true or false (${option.default})`
    : `${option.name}: ${option.minimum} to ${option.maximum} (${option.default})`;
}
