import { type Fault, faultsMax } from "../../errors/errors.ts";
import { pointerStep } from "../../text/json-pointer.ts";
import { membersMax, nestingMax } from "../../text/json-scan.ts";
import { echo } from "../../text/plain-text.ts";

/** Tokens, or characters of space, in one piece: about a quarter of a millisecond. */
const tokensAtOnce = 2000;
const charactersAtOnce = 32 * 1024;

/** An object or array that is open where the walk stands. */
interface Open {
  readonly close: "}" | "]";
  /** The keys read so far, if this is an object. */
  readonly keys: Set<string>;
  /** The current key or index. */
  at: string | number;
}

type Expected = "value" | "value or ]" | "key" | "key or }" | ":" | ", or close" | "end";

/**
 * Says what is wrong with a rejected text: where it stops being JSON or nests too deeply, and every repeated key. `JSON.parse` is faster,
 * but names the place of some mistakes only, and hides repeated keys. Yields between slices.
 *
 * @param keysMax the most keys of all objects together
 */
export function* explainJson(text: string, keysMax = membersMax): Generator<void, readonly Fault[]> {
  const faults: Fault[] = [];
  const open: Open[] = [];
  // A string without control characters, a number or word, or a mark. No two branches begin alike: no backtracking to speak of.
  const token =
    /"(?:[ !#-[\]-\uffff]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*"|(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)(?![\w.+-])|[{}[\],:]/y;
  let expected: Expected = "value";
  let members = 0;

  for (let tokens = 1; faults.length < faultsMax; tokens++) {
    if (tokens % tokensAtOnce === 0) {
      yield;
    }
    let place = skipSpace(text, token.lastIndex);
    while (isSpace(text.charCodeAt(place))) {
      yield;
      place = skipSpace(text, place);
    }
    token.lastIndex = place;
    const found = token.exec(text)?.[0] ?? "";
    const top = open.at(-1);
    const mark = found.charAt(0);

    if (found === "" && place === text.length && expected === "end") {
      break;
    }
    if (top && found === top.close && (expected === ", or close" || expected === closable[top.close])) {
      open.pop();
      expected = open.length > 0 ? ", or close" : "end";
    } else if (top && mark === "," && expected === ", or close") {
      if (typeof top.at === "number") {
        top.at++;
      }
      expected = top.close === "}" ? "key" : "value";
    } else if (top && mark === '"' && (expected === "key" || expected === "key or }")) {
      if (++members > keysMax) {
        faults.push(fault(`The body has more than ${keysMax} keys at ${yield* nameOf(text, place)}.`));
        break;
      }
      const key = JSON.parse(found) as string;
      top.at = key;
      if (top.keys.has(key)) {
        faults.push(repeated(open, key));
      }
      top.keys.add(key);
      expected = ":";
    } else if (mark === ":" && expected === ":") {
      expected = "value";
    } else if ((mark === "{" || mark === "[") && (expected === "value" || expected === "value or ]")) {
      if (open.length === nestingMax) {
        faults.push(
          fault(`The body is nested more than ${nestingMax} levels deep at ${yield* nameOf(text, place)}.`),
        );
        break;
      }
      const object = mark === "{";
      open.push({ close: object ? "}" : "]", keys: new Set(), at: object ? "" : 0 });
      expected = object ? "key or }" : "value or ]";
    } else if (/^["\w-]/.test(mark) && (expected === "value" || expected === "value or ]")) {
      expected = open.length > 0 ? ", or close" : "end";
    } else {
      faults.push(fault(describeBreak(text, place, expected, top, yield* nameOf(text, place))));
      break;
    }
  }
  return faults;
}

const closable = { "}": "key or }", "]": "value or ]" } as const;

/** Skips no more than is done in one piece. */
function skipSpace(text: string, from: number): number {
  let place = from;
  while (place - from < charactersAtOnce && isSpace(text.charCodeAt(place))) {
    place++;
  }
  return place;
}

function isSpace(unit: number): boolean {
  return unit === 0x20 || unit === lineFeed || unit === 0x0d || unit === 0x09;
}

const lineFeed = 0x0a;

function describeBreak(
  text: string,
  place: number,
  expected: Expected,
  top: Open | undefined,
  where: string,
): string {
  const found = echo(text.slice(place, place + 65).replace(/\s.*/s, ""));
  if (expected === "end") {
    return `The body continues after its JSON value, with \`${found}\` at ${where}: send one value and nothing else.`;
  }
  const wanted = {
    value: "a value",
    "value or ]": "a value or `]`",
    key: "a key in double quotes",
    "key or }": "a key in double quotes or `}`",
    ":": "`:`",
    ", or close": `\`,\` or \`${top?.close}\``,
  }[expected];
  if (place === text.length) {
    return `The body is cut off: it ends at ${where}, where ${wanted} is expected.`;
  }
  if (text[place] === '"' && /value|key/.test(expected)) {
    return `The body is not JSON: the string at ${where} is not closed, or contains a line break, control character or unknown escape.`;
  }
  return `The body is not JSON: it has \`${found}\` at ${where}, where ${wanted} is expected.`;
}

/** Line and column, counted from 1, as editors do. */
function* nameOf(text: string, place: number): Generator<void, string> {
  let line = 1;
  let lineStart = 0;
  for (let at = 0; at < place; at++) {
    if (at % charactersAtOnce === charactersAtOnce - 1) {
      yield;
    }
    if (text.charCodeAt(at) === lineFeed) {
      line++;
      lineStart = at + 1;
    }
  }
  return `line ${line}, column ${place - lineStart + 1}`;
}

function fault(message: string): Fault {
  return { pointer: "", code: "malformed_json", message };
}

function repeated(open: readonly Open[], key: string): Fault {
  const pointer = open.map((each) => pointerStep(each.at)).join("");
  return {
    pointer,
    code: "malformed_json",
    message: `The key \`${echo(key)}\` appears more than once in its object.`,
  };
}
