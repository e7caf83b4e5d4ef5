import fc from "fast-check";

export interface WrittenJson {
  readonly text: string;
  /** True if an object has the same key twice. The keys may be escaped in different ways. */
  readonly repeats: boolean;
  /** The nesting depth of arrays and objects. */
  readonly levels: number;
}

const fieldNames =
  "fen moves depth multipv movetime_ms engine path options requests name skill_level uci_elo uci_chess960".split(
    " ",
  );
const oddNames = [
  "__proto__",
  "constructor",
  "toString",
  "hasOwnProperty",
  "valueOf",
  "",
  "movetimeMs",
  "a/b~c",
  "🐴",
  "\u0000",
  "FEN",
  "x".repeat(70),
];
const startFen = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
const mateFen = "6k1/5ppp/8/8/8/8/5PPP/4R1K1 w - - 0 1";

/** Returns a JSON string in which some characters are escaped. */
function quoted(text: string, escapes: number): string {
  const written = [...text].map((character, index) => {
    const plain = JSON.stringify(character).slice(1, -1);
    const codes = [...Array(character.length).keys()].map((at) => character.charCodeAt(at));
    const escaped = codes.map((code) => `\\u${code.toString(16).padStart(4, "0")}`).join("");
    return ((escapes >> (index % 31)) & 1) === 1 ? escaped : plain;
  });
  return `"${written.join("")}"`;
}

const escapes = fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, fc.nat());
const text = fc.oneof(
  fc.constantFrom(
    startFen,
    mateFen,
    "e4",
    "e2e4",
    "latest",
    "stockfish-19-lite",
    "auto",
    "wasm",
    "native",
    "WASM",
    "PATH_WASM",
    "14",
    "NaN",
    "__proto__",
  ),
  fc.string({ maxLength: 8 }),
  fc.string({ unit: "binary", maxLength: 8 }),
);
const strings = fc.oneof(
  { weight: 6, arbitrary: fc.tuple(text, escapes).map(([value, some]) => quoted(value, some)) },
  fc.constantFrom(
    '"\\ud800"',
    '"\\udc00\\ud800"',
    '"\\ud83d\\udc34"',
    '"\\u0000"',
    '"\\/"',
    '"\\x"',
    '"\\u12"',
    '"\n"',
    "'e4'",
    '"',
    '"\\',
  ),
);
const numbers = fc.oneof(
  fc.integer({ min: -2, max: 40 }).map(String),
  fc.constantFrom(
    ..."-0 1.0 14.0 1e0 0.4e1 14.5 1e400 -1e400 1e-400 9007199254740993 4294967295 4294967296 -2147483649 1E+2 60000 50".split(
      " ",
    ),
    ..."01 +1 .5 1. 1e 0x1 1_0 NaN Infinity -Infinity - ٣".split(" "),
  ),
);
const words = fc.constantFrom("true", "false", "null", "null", "True", "undefined", "nul", "");
const blank = fc.oneof(
  { weight: 5, arbitrary: fc.constant("") },
  fc.constantFrom(" ", "\n", "\t", "\r\n", "\u00a0", "\f", "/**/"),
);

const leaf = (values: fc.Arbitrary<string>): fc.Arbitrary<WrittenJson> =>
  values.map((text) => ({ text, repeats: false, levels: 0 }));

function around(
  open: string,
  close: string,
  inner: readonly WrittenJson[],
  separator: string,
  repeats: boolean,
): WrittenJson {
  return {
    text: `${open}${inner.map((one) => one.text).join(separator)}${close}`,
    repeats: repeats || inner.some((one) => one.repeats),
    levels: 1 + Math.max(0, ...inner.map((one) => one.levels)),
  };
}

const key = fc.tuple(
  fc.oneof(
    { weight: 5, arbitrary: fc.constantFrom(...fieldNames) },
    fc.constantFrom(...oddNames),
    fc.string({ unit: "binary", maxLength: 4 }),
  ),
  escapes,
);
const separator = fc.tuple(blank, blank).map(([before, after]) => `${before},${after}`);
const wellFormed = fc.letrec<{ value: WrittenJson; object: WrittenJson; array: WrittenJson }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, depthSize: "small" },
    leaf(strings),
    leaf(numbers),
    leaf(words),
    tie("object"),
    tie("array"),
  ),
  object: fc
    .tuple(fc.array(fc.tuple(key, blank, tie("value")), { maxLength: 6 }), separator)
    .map(([members, comma]) => {
      const names = members.map(([[name]]) => name);
      const inner = members.map(([[name, some], space, value]) => ({
        ...value,
        text: `${quoted(name, some)}${space}:${space}${value.text}`,
      }));
      return around("{", "}", inner, comma, new Set(names).size < names.length);
    }),
  array: fc
    .tuple(fc.array(tie("value"), { maxLength: 4 }), separator)
    .map(([items, comma]) => around("[", "]", items, comma, false)),
}));

/** A request in which some members are valid and others are random. */
const request = fc
  .tuple(
    fc.constantFrom(startFen, mateFen),
    fc.uniqueArray(
      fc.oneof(
        fc.tuple(fc.constantFrom("depth", "multipv", "movetime_ms"), leaf(numbers)),
        fc.tuple(fc.constantFrom("engine", "path", "fen"), leaf(strings)),
        fc.tuple(fc.constant("moves"), wellFormed.array),
        fc.tuple(fc.constant("options"), wellFormed.object),
        fc.tuple(fc.constantFrom(...fieldNames, ...oddNames), wellFormed.value),
      ),
      { selector: ([name]) => name, maxLength: 4 },
    ),
  )
  .map(([fen, members]) => {
    const first = { text: `"fen": ${JSON.stringify(fen)}`, repeats: false, levels: 0 };
    const inner = members.map(([name, value]) => ({
      ...value,
      text: `${JSON.stringify(name)}: ${value.text}`,
    }));
    return around(
      "{",
      "}",
      [first, ...inner],
      ", ",
      members.some(([name]) => name === "fen"),
    );
  });

const batch = fc
  .array(fc.oneof({ weight: 3, arbitrary: request }, wellFormed.value), { maxLength: 4 })
  .map((requests) => around('{"requests": [', "]}", requests, ",", false))
  .map((one) => ({ ...one, levels: one.levels + 1 }));

const deep = fc
  .tuple(wellFormed.object, fc.integer({ min: 25, max: 40 }), fc.boolean())
  .map(([inner, levels, close]) => ({
    text: `{"options": {"a": ${"[".repeat(levels)}${inner.text}${"]".repeat(close ? levels : levels - 1)}}}`,
    repeats: inner.repeats,
    levels: inner.levels + levels + 2,
  }));

/** Requests in JSON, and nearly valid JSON with unusual numbers, repeated keys, single surrogates or too many levels. */
export const writtenJson: fc.Arbitrary<WrittenJson> = fc.oneof(
  { weight: 4, arbitrary: request },
  { weight: 2, arbitrary: wellFormed.object },
  batch,
  deep,
  wellFormed.value,
);
