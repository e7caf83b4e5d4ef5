import { create, type JsonObject, type MessageInitShape } from "@bufbuild/protobuf";
import * as pb from "../../gen/chess/analysis/v1/analysis_pb.ts";
import {
  type ListEnginesResponse,
  ListEnginesResponseSchema,
} from "../../gen/chess/analysis/v1/analysis_service_pb.ts";
import type { Catalog, EngineVersion } from "../engine/catalog.ts";
import type { EngineBuild, EngineOption } from "../engine/engine.ts";
import type { SearchLimit } from "../engine/profiles.ts";
import type { TablesSummary } from "../tablebase/results.ts";
import { enumValue } from "./convert.ts";

export function messageFromVersions(
  { versions, latest }: Catalog,
  available: (build: EngineBuild) => boolean,
  tablebases?: TablesSummary,
): ListEnginesResponse {
  const engines = versions.map((version) => ({
    ...messageFromVersion(version, available),
    latest: version === latest,
  }));
  return create(ListEnginesResponseSchema, {
    latest: latest.id,
    engines,
    ...(tablebases && { tablebases }),
  });
}

function messageFromVersion(
  { id, defaultBuild, builds, deprecated }: EngineVersion,
  available: (build: EngineBuild) => boolean,
): MessageInitShape<typeof pb.EngineSchema> {
  const { options } = defaultBuild;
  const chess960 = options.some(({ name }) => name === "uci_chess960");
  return {
    id,
    name: defaultBuild.name,
    author: defaultBuild.author,
    family: defaultBuild.family,
    version: defaultBuild.version,
    ...(defaultBuild.license && { license: defaultBuild.license }),
    status: deprecated ? pb.EngineStatus.DEPRECATED : pb.EngineStatus.STABLE,
    variants: [pb.Variant.STANDARD, ...(chess960 ? [pb.Variant.CHESS960] : [])],
    paths: builds.map((build) => ({
      path: enumValue(pb.Path, build.path),
      available: available(build),
      net: enumValue(pb.NetSize, build.net),
      sha256: build.sha256,
      threads: build.settings.threads,
      hashMb: build.settings.hashMb,
      ...(build.unavailableReason && { unavailableReason: build.unavailableReason }),
    })),
    defaultPath: enumValue(pb.Path, defaultBuild.path),
    optionsSchema: schemaOfOptions(options),
    optionsDefaults: defaultsOfOptions(options),
    reproducible: defaultBuild.reproducible,
    defaultLimit: limitMessage(defaultBuild.defaultLimit),
    digest: defaultBuild.sha256,
  };
}

function limitMessage({
  depth,
  nodes,
}: SearchLimit): Exclude<MessageInitShape<typeof pb.EngineSchema>["defaultLimit"], undefined> {
  return depth === undefined
    ? { limit: { case: "nodes", value: BigInt(nodes ?? 0) } }
    : { limit: { case: "depth", value: depth } };
}

export function schemaOfOptions(options: readonly EngineOption[]): JsonObject {
  const properties = Object.fromEntries(options.map((option) => [option.name, schemaOfOption(option)]));
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    properties,
    additionalProperties: false,
  };
}

export function defaultsOfOptions(options: readonly EngineOption[]): JsonObject {
  return Object.fromEntries(options.map((option) => [option.name, option.default]));
}

function schemaOfOption(option: EngineOption): JsonObject {
  const common = { title: titleOf(option), default: option.default, "x-uci-name": option.engineName };
  return option.kind === "boolean"
    ? { type: "boolean", ...common }
    : { type: "integer", minimum: option.minimum, maximum: option.maximum, ...common };
}

function titleOf({ name, engineName }: EngineOption): string {
  return titles.get(name) ?? engineName;
}

const titles: ReadonlyMap<string, string> = new Map([
  ["skill_level", "Skill level (20 = full)"],
  ["uci_limit_strength", "Limit strength to a rating"],
  ["uci_elo", "Rating (Elo), if strength is limited"],
  ["uci_chess960", "Chess960 castling"],
]);
