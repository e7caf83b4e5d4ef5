import { readFileSync, statSync } from "node:fs";
import { unknownFieldViolation } from "../calls/plain/read-message.ts";
import { type KibitzError, violationsMax } from "../errors/errors.ts";
import { withoutControls } from "../text/controls.ts";
import { decodeText } from "../text/decode-text.ts";
import { nameOfJson } from "../text/echo.ts";
import { isJsonObject, type Plain } from "../text/json.ts";
import { pointerStep } from "../text/json-pointer.ts";
import { ConfigError } from "./config.ts";

/** A fault of a JSON file that a setting names. */
export interface FileViolation {
  /** A JSON Pointer to the wrong value. Empty if the whole file is wrong. */
  readonly pointer: string;
  readonly message: string;
}

/** Throws ConfigError. An endless file, such as a device, is not read, because it would fill the memory. */
export function readSettingsFile(key: string, file: string, maxBytes: number): string {
  try {
    const found = statSync(file);
    if (!found.isFile() || found.size > maxBytes) {
      throw new Error(`it is not a file of at most ${maxBytes} bytes`);
    }
    return decodeText(readFileSync(file));
  } catch (error) {
    throw new ConfigError(`${key}: ${file} cannot be read: ${(error as Error).message}`);
  }
}

/** Rewords error messages about the body of a request as messages about a file. */
export function violationsOfFile({ violations, message: all }: KibitzError): readonly FileViolation[] {
  const found = violations.length > 0 ? violations : [{ pointer: "", message: all }];
  return found.map(({ pointer, message }) => ({
    pointer,
    message: message.replace(/^The (body|request)/, "The file"),
  }));
}

export function errorOfFile(key: string, file: string, violations: readonly FileViolation[]): ConfigError {
  const lines = violations.slice(0, violationsMax).map(({ pointer, message }) => {
    const place = pointer === "" ? "" : `, at ${withoutControls(pointer)}`;
    return `${key}: in ${file}${place}: ${message}`;
  });
  const more = violations.length - lines.length;
  if (more > 0) {
    lines.push(`${key}: ${file} has ${more} more faults like these.`);
  }
  return new ConfigError(lines.join("\n"));
}

export interface Rule {
  readonly must: string;
  readonly fits: (json: unknown) => boolean;
  /** The rules for the fields of this object, or of each object in this list. No other field is allowed. */
  readonly fields?: Rules;
  /** The rule for each item of this list, or for each value of this object. */
  readonly items?: Rule;
  /** Two objects in this list must not have the same value in the field `name`. The text begins the message. */
  readonly uniqueNames?: string;
}

export type Rules = Readonly<Record<string, Rule>>;

export const integer = (minimum: number, maximum: number): Rule => ({
  must: `must be an integer from ${minimum} to ${maximum}`,
  fits: (json) => Number.isInteger(json) && (json as number) >= minimum && (json as number) <= maximum,
});
export const orNull = ({ must, fits }: Rule): Rule => ({
  must: `${must}, or null for any number`,
  fits: (json) => json === null || fits(json),
});
/** A field that may be missing. */
export const optionally = (rule: Rule): Rule => ({
  ...rule,
  fits: (json) => json === undefined || rule.fits(json),
});

export function brokenIn(json: Plain, rules: Rules, pointer: string): FileViolation[] {
  const unknown = Object.keys(json)
    .filter((key) => !Object.hasOwn(rules, key))
    .map((key) => ({
      ...unknownFieldViolation(key, Object.keys(rules)),
      pointer: pointer + pointerStep(key),
    }));
  const known = Object.entries(rules).flatMap(([field, rule]) =>
    brokenBy(json[field], field, rule, `${pointer}/${field}`),
  );
  return [...unknown, ...known];
}

function brokenBy(value: unknown, field: string, rule: Rule, pointer: string): readonly FileViolation[] {
  const { must, fits, fields, items, uniqueNames } = rule;
  if (!fits(value)) {
    return [
      {
        pointer,
        message: `\`${field}\` ${must}, not ${value === undefined ? "absent" : nameOfJson(value)}.`,
      },
    ];
  }
  if (value === undefined) {
    return [];
  }
  if (items !== undefined) {
    return Object.entries(value as Plain | readonly unknown[]).flatMap(([key, item]) =>
      brokenBy(item, key, items, pointer + pointerStep(key)),
    );
  }
  if (fields === undefined) {
    return [];
  }
  if (isJsonObject(value)) {
    return brokenIn(value, fields, pointer);
  }
  const names = new Set<unknown>();
  return (value as readonly unknown[]).flatMap((item, index) => {
    const place = `${pointer}/${index}`;
    if (!isJsonObject(item)) {
      const message = `Each item of \`${field}\` must be an object, not ${nameOfJson(item)}.`;
      return [{ pointer: place, message }];
    }
    const isTwice = uniqueNames !== undefined && typeof item.name === "string" && names.has(item.name);
    names.add(item.name);
    const twice = {
      pointer: `${place}/name`,
      message: `${uniqueNames} ${nameOfJson(item.name)} already.`,
    };
    return [...brokenIn(item, fields, place), ...(isTwice ? [twice] : [])];
  });
}
