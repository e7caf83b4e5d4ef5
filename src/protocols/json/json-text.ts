import { type JSONVisitor, printParseErrorCode, visit } from "jsonc-parser";
import { boundJson } from "../../calls/bound-request.ts";
import {
  costOfBytes,
  errorFromViolations,
  type KibitzError,
  type Violation,
  violationsMax,
  withCost,
} from "../../errors/errors.ts";
import { echo, nameOfJson } from "../../text/echo.ts";
import { isJsonObject, type JsonCount, type Plain } from "../../text/json.ts";
import { pointerStep } from "../../text/json-pointer.ts";

/**
 * Parses a JSON object in linear time. Throws a KibitzError if a key is repeated, or if the text is too large or too deep.
 * For a text that is not an object, the error says that the body must be `wanted`.
 */
export function readJsonObject(text: string, wanted = "a JSON object"): Plain {
  return parseJsonObject(text, boundJson(text), wanted);
}

/** Parses a JSON array in linear time. Throws a KibitzError like {@link readJsonObject}. The text must begin with `[`. */
export function readJsonArray(text: string, wanted: string): readonly unknown[] {
  return parseValue(text, boundJson(text), wanted) as readonly unknown[];
}

/** Parses a text whose size has been checked. `members` is the number of members in all objects of the text. */
export function parseJsonObject(text: string, count: Pick<JsonCount, "members">, wanted: string): Plain {
  const value = parseValue(text, count, wanted);
  if (!isJsonObject(value)) {
    const message = `The body must be ${wanted}, not ${nameOfJson(value)}.`;
    throw errorFromText([{ pointer: "", code: "invalid_type", message }], Buffer.byteLength(text));
  }
  return value;
}

function parseValue(text: string, { members }: Pick<JsonCount, "members">, wanted: string): unknown {
  const value = parse(text);
  // If the text repeats a key, the parsed value has fewer keys than the text has members.
  if (value === undefined || members !== countKeys(value)) {
    throw errorFromText(violationsOfText(text, wanted), Buffer.byteLength(text));
  }
  return value;
}

function errorFromText(violations: readonly Violation[], bytes: number): KibitzError {
  return withCost(errorFromViolations(violations), costOfBytes(bytes));
}

/** Only this many characters of an invalid text are searched for errors, because jsonc-parser needs 0.1 µs per character. */
const explainedMaxLength = 64 * 1024;

const isBroken = new Error("a syntax error");

function violationsOfText(text: string, wanted: string): readonly Violation[] {
  if (text.trim() === "") {
    return [malformed(`The body is empty: send ${wanted}.`)];
  }
  const violations = explainJson(text);
  const elsewhere = `The body is not JSON, or repeats a key, after its first ${explainedMaxLength} characters.`;
  return violations.length > 0 ? violations : [malformed(elsewhere)];
}

/**
 * Finds the first syntax error and each repeated key before this error.
 * The text must have at most 32 nested levels, because the parser is recursive.
 */
export function explainJson(text: string): readonly Violation[] {
  const start = text.slice(0, explainedMaxLength);
  const violations: Violation[] = [];
  const open: Set<string>[] = [];
  const visitor: JSONVisitor = {
    onObjectBegin() {
      open.push(new Set());
    },
    onObjectEnd() {
      open.pop();
    },
    onObjectProperty(key, _offset, _length, _line, _column, pathOfObject) {
      const keys = open.at(-1);
      if (keys?.has(key) && violations.length < violationsMax) {
        violations.push(repeated([...pathOfObject(), key]));
      }
      keys?.add(key);
    },
    onError(code, offset, length, line, column) {
      // If only the beginning of the text is searched, the parser always finds an error at its end.
      if (start === text || offset + length < start.length) {
        const where = `line ${line + 1}, column ${column + 1}`;
        const found = text.slice(offset, offset + length);
        violations.push(malformed(describeError(printParseErrorCode(code), found, where)));
      }
      throw isBroken;
    },
  };
  try {
    visit(start, visitor, { disallowComments: true });
  } catch (thrown) {
    if (thrown !== isBroken) {
      throw thrown;
    }
  }
  return violations;
}

const expectations: Readonly<Record<string, string>> = {
  ValueExpected: "a value",
  PropertyNameExpected: "a key in double quotes",
  ColonExpected: "`:`",
  CommaExpected: "`,`",
  CloseBraceExpected: "`}`",
  CloseBracketExpected: "`]`",
};

const errorsInStrings: ReadonlySet<string> = new Set([
  "UnexpectedEndOfString",
  "InvalidCharacter",
  "InvalidEscapeCharacter",
  "InvalidUnicode",
]);

function describeError(name: string, found: string, where: string): string {
  if (errorsInStrings.has(name)) {
    return `The body is not JSON: the string at ${where} is not closed, or contains a line break, control character or unknown escape.`;
  }
  if (name === "EndOfFileExpected") {
    return `The body continues after its JSON value, with ${echo(found, "`")} at ${where}: send one value and nothing else.`;
  }
  const expected = expectations[name];
  const why = expected === undefined ? "" : `, where ${expected} is expected`;
  return found === ""
    ? `The body is cut off: it ends at ${where}${why}.`
    : `The body is not JSON: it has ${echo(found, "`")} at ${where}${why}.`;
}

function repeated(path: readonly (string | number)[]): Violation {
  const key = echo(String(path.at(-1)), "`");
  return {
    ...malformed(`The key ${key} appears more than once in its object.`),
    pointer: path.map(pointerStep).join(""),
  };
}

function malformed(message: string): Violation {
  return { pointer: "", code: "malformed_json", message };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function countKeys(value: unknown): number {
  if (typeof value !== "object" || value === null) {
    return 0;
  }
  let keys = 0;
  if (Array.isArray(value)) {
    for (const item of value) {
      keys += countKeys(item);
    }
  } else {
    const object = value as Record<string, unknown>;
    for (const key in object) {
      keys += 1 + countKeys(object[key]);
    }
  }
  return keys;
}
