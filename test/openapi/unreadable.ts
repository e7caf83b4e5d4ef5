import { isDeepStrictEqual } from "node:util";

type Plain = Readonly<Record<string, unknown>>;
interface Operation {
  readonly operationId: string;
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, unknown>>;
    readonly responses: Readonly<Record<string, unknown>>;
  };
}

/**
 * Finds parts of an OpenAPI document that client generators cannot process. Returns the JSON Pointer or the name of each part,
 * with the reason.
 */
export function unreadableParts(document: Document): readonly string[] {
  const unreadable = (place: string, part: unknown): readonly string[] =>
    typeof part !== "object" || part === null
      ? []
      : [
          ...reasons(place, part as Plain, document).map((reason) => `${place}: ${reason}`),
          ...Object.entries(part).flatMap(([key, value]) =>
            key === "examples" ? [] : unreadable(step(place, key), value),
          ),
        ];
  return [...namesUsedTwice(document), ...operationsListedTwice(document), ...unreadable("", document)];
}

function namesUsedTwice({ paths, components }: Document): readonly string[] {
  const operations = Object.values(paths).flatMap((path) => Object.values(path));
  const ofOapiCodegen = operations.map(
    ({ operationId: [first = "", ...rest] }) => `${first.toUpperCase()}${rest.join("")}Response`,
  );
  const names = [...Object.keys(components.schemas), ...Object.keys(components.responses), ...ofOapiCodegen];
  const twice = names.filter((name, index) => names.indexOf(name) !== index);
  return twice.map((name) => `${name}: two types of one name`);
}

/** Two operations are the same call if they differ only in their id and description. */
function operationsListedTwice({ paths }: Document): readonly string[] {
  const operations = Object.entries(paths).flatMap(([path, verbs]) =>
    Object.entries(verbs).map(([verb, operation]) => ({
      place: step(step("/paths", path), verb),
      content: JSON.stringify({ ...operation, operationId: "", description: "" }),
    })),
  );
  return operations.flatMap(({ place, content }, index) => {
    const first = operations.findIndex((other) => other.content === content);
    return first === index ? [] : [`${place}: the same operation as ${operations[first]?.place}`];
  });
}

function reasons(place: string, schema: Plain, document: Document): readonly string[] {
  const { oneOf, anyOf, allOf, type, enum: words, properties, default: standard } = schema;
  const isUnion = [oneOf, anyOf, allOf].some(Array.isArray);
  const isNullable = JSON.stringify([type, oneOf, anyOf]).includes('"null"');
  const isProblem = place.endsWith("/application~1problem+json/schema");
  const isEvent = place.endsWith("/text~1event-stream/schema");
  return [
    ...(isUnion && !isObjectOrNull(schema, document) && !(isEvent && isUnionOfObjects(schema))
      ? ["a union that is not a reference to an object or null"]
      : []),
    ...(isUnion && properties ? ["alternatives beside properties"] : []),
    ...(Array.isArray(type) && (type.length !== 2 || !type.includes("null"))
      ? ["several types that are not one type or null"]
      : []),
    ...(Array.isArray(words) && isNullable ? ["an enum that may be null"] : []),
    ...(isNullable && standard !== undefined ? ["a default of what may be null"] : []),
    ...(isProblem && !isDeepStrictEqual(schema, { $ref: "#/components/schemas/Problem" })
      ? ["an error that is not just a Problem"]
      : []),
  ];
}

/** A reference to another schema than an object, for example to an enum, breaks the clients for Kotlin and Rust. */
function isObjectOrNull({ oneOf, anyOf, allOf }: Plain, { components }: Document): boolean {
  if (!Array.isArray(oneOf) || oneOf.length !== 2 || anyOf !== undefined || allOf !== undefined) {
    return false;
  }
  const [{ $ref = "" }, second] = oneOf;
  const target = components.schemas[$ref.replace("#/components/schemas/", "")] as Plain | undefined;
  return target?.type === "object" && isDeepStrictEqual(second, { type: "null" });
}

/** Clients do not read event streams with generated code, so only the compiler sees this union. */
function isUnionOfObjects({ oneOf }: Plain): boolean {
  return Array.isArray(oneOf) && oneOf.every(({ type }) => type === "object");
}

function step(place: string, key: string): string {
  return `${place}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
}
