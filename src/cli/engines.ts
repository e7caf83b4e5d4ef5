import { create } from "@bufbuild/protobuf";
import {
  AnalysisService,
  ListEnginesRequestSchema,
  ListEnginesResponseSchema,
} from "../../gen/chess/analysis/v1/analysis_service_pb.ts";
import { localCall } from "../calls/call.ts";
import { createMessageWriter } from "../calls/plain/write-message.ts";
import type { EngineVersion } from "../engine/catalog.ts";
import type { EngineOption } from "../engine/engine.ts";
import { type Command, exitCode, UsageError } from "./command.ts";
import { openLocal } from "./open-local.ts";

export const enginesCommand: Command = {
  usage: "engines",
  about: "List the available engines, newest first, with their options.",
  options: { json: { type: "boolean", about: "print the answer of GET /engines as one line of JSON" } },
  notes: [],
  async run({ values, positionals, signal, host }) {
    if (positionals.length > 0) {
      throw new UsageError("engines takes no arguments");
    }
    await using local = await openLocal(host, signal);
    if (values.json) {
      const method = AnalysisService.method.listEngines;
      const list = local.calls.unary(method);
      const answer = await list(create(ListEnginesRequestSchema), localCall(method, signal));
      host.stdout.write(`${createMessageWriter(ListEnginesResponseSchema)(answer)}\n`);
      return exitCode.ok;
    }
    const { versions, latest } = local.engines.catalog;
    for (const version of versions) {
      host.stdout.write(reportOf(version, version === latest));
    }
    return exitCode.ok;
  },
};

function reportOf({ id, builds, defaultBuild, deprecated }: EngineVersion, latest: boolean): string {
  const paths = builds.map(({ path }) =>
    path === defaultBuild.path && builds.length > 1 ? `${path} (auto)` : path,
  );
  const lines = [
    `${id}${latest ? "  (latest)" : ""}${deprecated ? "  (deprecated)" : ""}`,
    `  name     ${defaultBuild.name}`,
    `  paths    ${paths.join(", ")}`,
    `  network  ${defaultBuild.net}`,
    ...defaultBuild.options.map(
      (option, index) => `  ${index === 0 ? "options" : "       "}  ${optionText(option)}`,
    ),
  ];
  return `${lines.join("\n")}\n\n`;
}

function optionText(option: EngineOption): string {
  return option.kind === "boolean"
    ? `${option.name}: true or false (${option.default})`
    : `${option.name}: ${option.minimum} to ${option.maximum} (${option.default})`;
}
