import { readFile } from "node:fs/promises";

/** A plan as `GET /price` shows it. */
export interface ShownPlan {
  readonly id: string;
  readonly requires_key: boolean;
  readonly limits: {
    readonly depth_max: number;
    readonly nodes_max: number;
    readonly multipv_max: number;
    readonly movetime_ms_max: number;
    readonly review_plies_max: number;
    readonly batch_max: number;
    readonly concurrent: number | null;
    readonly rates: readonly {
      readonly quota: number;
      readonly window_s: number;
      readonly unit: string;
    }[];
  };
}

/** `npm run generate` makes it. It is beside `src/` in a checkout, and in `dist/` of the package. */
const file = new URL("../../../gen/openapi.json", import.meta.url);

/** The OpenAPI document that is made from the proto. */
export async function generatedDocument() {
  return JSON.parse(await readFile(file, "utf8"));
}

/** The OpenAPI document of this service, with the plans in force. */
export async function openapiDocument(plans: readonly ShownPlan[]): Promise<string> {
  const { info, ...rest } = await generatedDocument();
  const description = `${info.description}\n${tableOf(plans)}`;
  return `${JSON.stringify({ ...rest, info: { ...info, description }, "x-kibitz-plans": plans })}\n`;
}

function tableOf(plans: readonly ShownPlan[]): string {
  return `**Plans** of this service, as \`GET /price\` shows them. A request beyond the limits of the plan is 402; one that has to wait is 429.

| plan | key | depth | nodes | lines | search | review | batch | at a time | windows |
|---|---|---|---|---|---|---|---|---|---|
${plans.map(rowOf).join("\n")}
`;
}

function rowOf({ id, requires_key, limits }: ShownPlan): string {
  const windows = limits.rates.map(
    ({ quota, window_s, unit }) => `${amountOf(quota, unit)} in ${window_s} s`,
  );
  const cells = [
    id,
    requires_key ? "yes" : "no",
    `to ${limits.depth_max}`,
    `to ${limits.nodes_max}`,
    `to ${limits.multipv_max}`,
    `to ${limits.movetime_ms_max} ms`,
    `to ${limits.review_plies_max} plies`,
    `to ${limits.batch_max}`,
    limits.concurrent ?? "not limited",
    windows.join(", ") || "not limited",
  ];
  return `| ${cells.join(" | ")} |`;
}

function amountOf(quota: number, unit: string): string {
  return unit === "engine_ms" ? `${quota / 1000} s of engine time` : `${quota} ${unit}s`;
}
