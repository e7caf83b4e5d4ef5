import type { Engine } from "../../gen/chess/analysis/v1/analysis_pb.ts";

/** An option of an engine, as the API describes it. */
export type ApiOption = { readonly name: string; readonly engineName: string } & (
  | { readonly kind: "integer"; readonly default: number; readonly minimum: number; readonly maximum: number }
  | { readonly kind: "boolean"; readonly default: boolean }
);

/** Skips options of an unknown type, because the service may be newer than this program. */
export function engineOptionsOf({ optionsSchema }: Pick<Engine, "optionsSchema">): readonly ApiOption[] {
  const properties = objectOf(optionsSchema?.properties);
  return Object.entries(properties).flatMap(([name, property]): readonly ApiOption[] => {
    const { "x-uci-name": engineName, type, default: usual, minimum, maximum } = objectOf(property);
    if (typeof engineName !== "string") {
      return [];
    }
    if (type === "boolean" && typeof usual === "boolean") {
      return [{ name, engineName, kind: "boolean", default: usual }];
    }
    const isRange = typeof usual === "number" && typeof minimum === "number" && typeof maximum === "number";
    return isRange ? [{ name, engineName, kind: "integer", default: usual, minimum, maximum }] : [];
  });
}

function objectOf(json: unknown): Readonly<Record<string, unknown>> {
  return typeof json === "object" && json !== null ? { ...json } : {};
}
