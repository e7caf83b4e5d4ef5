import { globSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { type Import, importsOf, readSources } from "./support/imports.ts";

/**
 * A module is a folder of `src/` or `web/src/`. Every file of `src/` may import these modules. Each of them may import only the
 * listed ones above it, so that they form no circle.
 */
const basicsMayImport: Readonly<Record<string, readonly string[]>> = {
  text: [],
  time: [],
  errors: ["text"],
  request: ["text", "time"],
  metrics: ["request", "time"],
  thread: ["request", "time"],
  log: ["request", "text", "time"],
  tracing: ["errors", "log", "request", "time"],
};
const basics = Object.keys(basicsMayImport);

/** Maps a module to the modules that it may import. Every module may also import `basics`. */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  chess: [],
  game: ["chess"],
  tablebase: ["chess"],
  storage: [],
  engine: ["chess"],
  analysis: ["engine", "storage", "tablebase", "chess"],
  access: ["analysis", "storage"],
  http: [],
  calls: ["access", "analysis", "engine", "game", "tablebase", "chess"],
  services: ["calls", "access", "analysis", "engine", "game", "tablebase", "chess"],
  "protocols/json": ["calls", "http", "access"],
  "protocols/connect": ["calls", "http", "access"],
  "protocols/mcp": ["calls", "http", "access", "chess"],
};

/** Maps a module or a single file of the page to its allowed imports. A module may always import its own files. */
const pageMayImport: Readonly<Record<string, readonly string[]>> = {
  view: [],
  "pasted-text": ["game"],
  game: [],
  parts: [],
  client: ["parts"],
  board: ["parts"],
  graph: ["parts"],
  request: ["client", "page", "parts"],
  problem: ["client", "page", "parts", "request"],
  "place-text": ["board", "request", "view"],
  "create-address": ["game", "place-text", "request", "view"],
  input: ["board", "create-address", "game", "page", "parts", "pasted-text"],
  page: ["analysis", "client", "create-address", "game", "input", "parts", "request", "review"],
  moves: ["board", "game", "page", "parts"],
  call: ["client", "page", "parts", "problem"],
};
/** A view may import every module of `pageMayImport`, but not another view. */
const views = ["analysis", "review"];
const pageTop = ["app", "main"];

/**
 * Files of the service that the page may import: the rules of chess, the PGN reader, the errors, the JSON codec, and what is known
 * of families of engines.
 */
const sharedWithPage = /^src\/((chess|game|errors|calls\/plain|protocols\/json)\/|engine\/profiles\.ts)/;

const sources = readSources(["src"]);
const page = readSources(["web/src"]);
const imports = [...sources, ...page].flatMap((file) =>
  importsOf(file).map((found) => ({ ...found, path: file.path })),
);

interface FoundImport extends Import {
  readonly path: string;
}

function breaches(from: RegExp, isAllowed: (found: FoundImport) => boolean): readonly string[] {
  const looked = imports.filter(({ path }) => from.test(path));
  expect(looked).not.toEqual([]);
  return looked
    .filter((found) => !isAllowed(found))
    .map(({ path, line, names, target }) => `${path}:${line} imports ${names} from ${target}`);
}

test("a module of src/ imports only the modules that the table allows", () => {
  const modules = new Set(sources.map(({ path }) => moduleOf(path)));
  const below = [...basics, ...Object.keys(mayImport)];
  expect([...modules].toSorted()).toEqual([...below, "cli", "main", "wiring"].toSorted());
  expect(
    breaches(/^src\/(?!cli\/|wiring\/|main\.ts)/, ({ path, target }) => {
      const module = moduleOf(path);
      const others = basicsMayImport[module] ?? [...basics, ...(mayImport[module] ?? [])];
      const allowed = [module, ...others];
      return !target.startsWith("src/") || allowed.includes(moduleOf(target));
    }),
  ).toEqual([]);
});

test("a module of the page imports only the modules that the table allows", () => {
  const modules = new Set(page.map(({ path }) => moduleOf(path)));
  const below = Object.keys(pageMayImport);
  expect([...modules].toSorted()).toEqual([...below, ...views, ...pageTop].toSorted());
  expect(
    breaches(/^web\/src\/(?!app|main)/, ({ path, target }) => {
      const module = moduleOf(path);
      const allowed = [module, ...(views.includes(module) ? below : (pageMayImport[module] ?? []))];
      return target.startsWith("web/src/")
        ? allowed.includes(moduleOf(target))
        : !target.startsWith("src/") || sharedWithPage.test(target);
    }),
  ).toEqual([]);
});

test("a file of src/ or of the page exports no names of another file", () => {
  // Otherwise, a module could import a name that the tables do not allow from a module that they allow.
  expect(
    breaches(/^(web\/)?src\//, ({ isReexport, target }) => !isReexport || !/^(src|web|gen)\//.test(target)),
  ).toEqual([]);
});

test("tablebase imports only chess and time", () => {
  expect(
    breaches(
      /^src\/tablebase\//,
      ({ target }) => !target.startsWith("src/") || /^src\/(tablebase|chess|time)\//.test(target),
    ),
  ).toEqual([]);
});

test("only tablebase/files.ts reads tables", () => {
  expect(breaches(/^src\/tablebase\/(?!files\.ts)/, ({ target }) => !/^(node:)?fs/.test(target))).toEqual([]);
});

test("no file compares the name of a family of engines, because src/engine/profiles.ts says what is known of a family", () => {
  const compared = sources.filter(({ text }) => /\bfamily\s*[!=]==?\s*"/.test(text));
  expect(compared.map(({ path }) => path)).toEqual([]);
});

test("only src/time reads a clock or starts a timer", () => {
  const names =
    /\b(setTimeout|setInterval|setImmediate|clearTimeout|clearInterval|clearImmediate|performance|Date\.now|AbortSignal\.timeout)\b|new Date\(\)|node:timers/;
  // Sockets and streams have a method with the name of the timer.
  const isOfSocket = /\.setTimeout\(|setTimeout\(ms: number\): unknown/;
  const found = sources.flatMap(({ path, text }) =>
    text
      .split("\n")
      .flatMap((line, index) => (names.test(line) && !isOfSocket.test(line) ? [`${path}:${index + 1}`] : [])),
  );
  expect(new Set(found.map((place) => place.split(":")[0]))).toEqual(new Set(["src/time/time.ts"]));
});

test("the settings table does not import modules that use its settings", () => {
  const table = /^src\/(wiring\/(settings|setting|memory|config|home)|text\/nearest-name)\.ts$/;
  expect(breaches(table, ({ target }) => !target.startsWith("src/") || table.test(target))).toEqual([]);
});

test("only calls/convert and the command line import generated protobuf messages", () => {
  // The service descriptors are needed to register services.
  const isDescriptor = (names: string) => /^\{\s*\w+Service\s*\}$/.test(names);
  expect(
    breaches(
      /^src\/(?!cli\/|calls\/convert)/,
      ({ target, names }) => !target.startsWith("gen/chess/") || isDescriptor(names),
    ),
  ).toEqual([]);
});

test("the domain imports neither protobuf nor Connect", () => {
  expect(
    breaches(
      /^src\/(chess|game|tablebase|engine|storage|analysis|access)\//,
      ({ target }) => !/^gen\/|^@(bufbuild|connectrpc)\//.test(target),
    ),
  ).toEqual([]);
});

test("cli/uci uses engines only through the public API calls", () => {
  const here = /^src\/cli\/(uci\/|(engine-option|score-from-message)\.ts$)/;
  const others = /^(src\/(chess|errors|text|time)\/|src\/analysis\/analysis\.ts$|gen\/chess\/)/;
  expect(breaches(/^src\/cli\/uci\//, ({ target }) => here.test(target) || others.test(target))).toEqual([]);
});

test("no file imports itself indirectly, including type imports", () => {
  const targets = new Map<string, string[]>();
  for (const file of readSources(["src", "web/src", "test", "bench", "tools"])) {
    targets.set(
      file.path,
      importsOf(file).map(({ target }) => target),
    );
  }
  const done = new Set<string>();
  const cycles: string[] = [];
  const follow = (path: string, trail: readonly string[]) => {
    if (trail.includes(path)) {
      cycles.push([...trail.slice(trail.indexOf(path)), path].join(" → "));
    } else if (!done.has(path)) {
      targets.get(path)?.forEach((target) => void follow(target, [...trail, path]));
      done.add(path);
    }
  };
  for (const path of targets.keys()) {
    follow(path, []);
  }
  expect(cycles).toEqual([]);
});

test("only cli/host.ts reads process.env", () => {
  const reading = sources
    .filter(({ path }) => path !== "src/cli/host.ts")
    .filter(({ text }) =>
      /\bprocess\s*\.\s*env\b|\benv\b[^}]*\}\s*=\s*process\b|import.*\benv\b.*process/.test(text),
    );
  expect(reading.map(({ path }) => path)).toEqual([]);
});

test("an exported name is used in another file", () => {
  const configs = globSync("vitest*.ts").map((path) => ({ path, text: readFileSync(path, "utf8") }));
  const files = [...configs, ...readSources(["src", "web", "test", "bench", "tools"])];
  const filesOfWord = new Map<string, Set<string>>();
  for (const { path, text } of files) {
    for (const [word] of text.matchAll(/[\w$]+/g)) {
      filesOfWord.set(word, (filesOfWord.get(word) ?? new Set()).add(path));
    }
  }
  const unused = files.flatMap(({ path, text }) =>
    [...text.matchAll(/^export (?:async )?(?:function\*?|const|class|type|interface) ([\w$]+)/gm)]
      .filter(([, name = ""]) => filesOfWord.get(name)?.size === 1)
      .map(([, name]) => `${path}: ${name}`),
  );
  expect(unused).toEqual([]);
});

/** Returns the module of a file, or the file name if no folder contains the file. Each protocol is a module. */
function moduleOf(path: string): string {
  const [module = "", inner = ""] = path
    .replace(/^(web\/)?src\//, "")
    .replace(/\.tsx?$/, "")
    .split("/");
  return module === "protocols" ? `${module}/${inner}` : module;
}
