import { readFileSync } from "node:fs";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import { expect } from "vitest";

interface Response {
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly content: Readonly<Record<string, unknown>>;
}

interface Document {
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, { readonly responses: Readonly<Record<string, object>> }>>>
  >;
  readonly components: { readonly responses: Readonly<Record<string, Response>> };
}

/** Clients must accept unknown enum values, but the service must send only known values. */
function withoutFutureWords(_: string, value: unknown): unknown {
  const { "x-extensible-enum": words, ...schema } = (value ?? {}) as {
    readonly "x-extensible-enum"?: readonly string[];
    readonly type?: string | readonly string[];
  };
  return words === undefined
    ? value
    : { ...schema, enum: [...words, ...(schema.type?.includes("null") ? [null] : [])] };
}

const document: Document = JSON.parse(
  readFileSync(new URL("../../gen/openapi.json", import.meta.url), "utf8"),
  withoutFutureWords,
);
const ajv = addFormats.default(new Ajv2020({ strict: false, allErrors: true }));
ajv.addSchema(document, "document");
const compiled = new Map<string, ValidateFunction>();

/** Validates a value against the schema at a path of the OpenAPI document, and returns the errors. */
export function violationsOf(value: unknown, ...keys: readonly string[]): unknown {
  const steps = keys.map((key) => encodeURIComponent(key.replaceAll("~", "~0").replaceAll("/", "~1")));
  const ref = `document#/${steps.join("/")}`;
  const validate = compiled.get(ref) ?? ajv.compile({ $ref: ref });
  compiled.set(ref, validate);
  return validate(value) ? [] : validate.errors;
}

/**
 * Fails if the OpenAPI document does not allow the status, type, body or headers of a response. Ignores requests to
 * undocumented paths or with undocumented methods.
 */
export function expectDescribed(
  method: string,
  url: string,
  { status, headers }: { readonly status: number; readonly headers: Headers },
  body: unknown,
): void {
  const path = new URL(url).pathname;
  const operation = document.paths[path]?.[method.toLowerCase()];
  if (operation === undefined) {
    return;
  }
  const described = operation.responses[status];
  expect(described, `${method} ${path} answers ${status}: ${JSON.stringify(body)}`).toBeDefined();
  const ref = (described as { readonly $ref?: string }).$ref;
  const place = ref
    ? ref.slice(2).split("/")
    : ["paths", path, method.toLowerCase(), "responses", String(status)];
  const response = (ref ? document.components.responses[place.at(-1) ?? ""] : described) as Response;
  const type = headers.get("content-type")?.split(";")[0] ?? "";
  expect(Object.keys(response.content)).toContain(type);
  expect(violationsOf(body, ...place, "content", type, "schema"), `${method} ${path} ${status}`).toEqual([]);
  const always = Object.keys(response.headers ?? {}).filter((name) => !name.startsWith("RateLimit"));
  expect(always.filter((name) => !headers.has(name))).toEqual([]);
}
