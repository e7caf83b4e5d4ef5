import { readFile } from "node:fs/promises";

/** `npm run generate` makes it. It is beside `src/` in a checkout, and in `dist/` of the package. */
const file = new URL("../../../gen/openapi.json", import.meta.url);

/** The OpenAPI document that is made from the proto. */
export async function generatedDocument() {
  return JSON.parse(await readFile(file, "utf8"));
}

/**
 * The OpenAPI document of this service.
 *
 * @param plans in force, as `GET /price` shows them
 */
export async function openapiDocument(plans: readonly object[]): Promise<string> {
  const { info, ...rest } = await generatedDocument();
  const description = `${info.description}\n**Plans** of this service and their limits are at [/price](/price).\n`;
  return `${JSON.stringify({ ...rest, info: { ...info, description }, "x-kibitz-plans": plans })}\n`;
}
