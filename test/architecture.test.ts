import { basename } from "node:path";
import { expect, test } from "vitest";
import { codeLinesOf, importsOf, type Law, readSources, type SourceFile, testLaws } from "./support/laws.ts";

/**
 * The walls of the house, as ARCHITECTURE.md draws them. Each law is read from the text of the sources, and
 * shown a file that breaks it: a law that lets that pass is no law.
 */

/** What everybody may know: rooms that know nothing but each other. */
const basics = ["errors", "log", "metrics", "request", "text", "thread"];

/** The rooms that each room may look into, beside itself and the basics. */
const mayLookInto: Readonly<Record<string, readonly string[]>> = {
  chess: [],
  game: ["chess"],
  storage: [],
  engine: ["chess"],
  analysis: ["engine", "storage", "chess"],
  access: ["analysis", "storage"],
  http: [],
  calls: ["access", "analysis", "engine", "game", "chess"],
  services: ["calls", "access", "analysis", "engine", "game", "chess"],
  "protocols/json": ["calls", "http", "access"],
  "protocols/connect": ["calls", "http", "access"],
  "protocols/mcp": ["calls", "http", "access"],
  // Its own parts stand for those of others, and only the wiring knows of that.
  tracing: ["calls", "services", "analysis", "engine", "storage", "http"],
};

/** What wires the rooms together, and the command line, which asks them. Nobody looks into these. */
const isWiring = (place: string) => !(place in mayLookInto) && !basics.includes(place);

const inRoom =
  (...rooms: readonly string[]) =>
  (path: string) =>
    rooms.includes(placeOf(path));
const inFolder = (folder: string) => (path: string) => path.startsWith(folder);
const anySource = (path: string) => path.startsWith("src/");

/** The table of settings, a row of it, and who reads them. */
const settingsFiles: readonly string[] = ["settings", "setting", "memory", "config"].map(
  (name) => `src/wiring/${name}.ts`,
);

const laws: readonly Law[] = [
  {
    promise: "imports point down",
    about: (path) => anySource(path) && !isWiring(placeOf(path)),
    breaches: (file) => {
      const room = placeOf(file.path);
      const seen = [room, ...basics, ...(mayLookInto[room] ?? [])];
      return importsOf(file)
        .filter(({ target }) => target.startsWith("src/") && !seen.includes(placeOf(target)))
        .map(({ line, target }) => [line, `${room} may not look into ${placeOf(target)}: ${target}`]);
    },
    broken: [
      { path: "src/chess/x.ts", text: 'import { A } from "../engine/engine.ts";' },
      { path: "src/game/x.ts", text: 'import type { A } from "../engine/engine.ts";' },
      { path: "src/engine/uci/x.ts", text: 'import type { A } from "../../analysis/analysis.ts";' },
      { path: "src/analysis/x.ts", text: 'const { a } = await import("../access/plans.ts");' },
      { path: "src/access/x.ts", text: 'import "../engine/engine.ts";' },
      { path: "src/storage/memory/x.ts", text: 'import { A } from "../../analysis/analysis.ts";' },
      { path: "src/calls/x.ts", text: 'export { A } from "../services/batch.ts";' },
      { path: "src/services/x.ts", text: 'import { B } from "../wiring/app.ts";' },
      { path: "src/protocols/json/x.ts", text: 'import {\n  A,\n  B,\n} from "../connect/errors.ts";' },
      { path: "src/protocols/connect/x.ts", text: 'import { A } from "../../services/batch.ts";' },
      { path: "src/protocols/mcp/x.ts", text: 'import { A } from "../json/codec/json-text.ts";' },
      { path: "src/http/x.ts", text: 'import { A } from "../protocols/json/gateway.ts";' },
      { path: "src/errors/errors.ts", text: 'import { A } from "../chess/score.ts";' },
      { path: "src/log/x.ts", text: 'import { A } from "../wiring/config.ts";' },
    ],
  },
  {
    promise: "the settings know nothing of what they set",
    about: (path) => settingsFiles.includes(path),
    breaches: (file) =>
      importsOf(file)
        .filter(
          ({ target }) =>
            target.startsWith("src/") && ![...settingsFiles, "src/text/nearest-name.ts"].includes(target),
        )
        .map(({ line, target }) => [line, `${basename(file.path)} imports ${target}`]),
    broken: settingsFiles.map((path) => ({ path, text: 'import { A } from "../log/log.ts";' })),
  },
  {
    promise: "only calls/convert knows the generated messages; what serves a service may know its descriptor",
    // The command line is a door and its own wiring.
    about: (path) => anySource(path) && !/^src\/(cli\/|calls\/convert)/.test(path),
    breaches: (file) =>
      importsOf(file)
        .filter(
          ({ target, names }) => target.startsWith("gen/chess/") && !/^\{\s*\w+Service\s*\}$/.test(names),
        )
        .map(({ line, target, names }) => [line, `${names} of ${target} is calls/convert's business`]),
    broken: [
      {
        path: "src/services/x.ts",
        text: 'import { PathSchema } from "../../gen/chess/analysis/v1/analysis_pb.ts";',
      },
      {
        path: "src/services/x.ts",
        text: 'import * as pb from "../../gen/chess/analysis/v1/analysis_pb.ts";',
      },
      {
        path: "src/analysis/x.ts",
        text: 'import type { Path } from "../../gen/chess/analysis/v1/analysis_pb.ts";',
      },
    ],
  },
  {
    promise: "only calls, services and protocols know protobuf and Connect",
    about: inRoom("chess", "game", "engine", "storage", "analysis", "access"),
    breaches: (file) =>
      importsOf(file)
        .filter(({ target }) => /^gen\/|^@(bufbuild|connectrpc)\//.test(target))
        .map(({ line, target }) => [line, `the domain imports ${target}`]),
    broken: [
      { path: "src/analysis/x.ts", text: 'import { create } from "@bufbuild/protobuf";' },
      { path: "src/engine/x.ts", text: 'import { Code } from "@connectrpc/connect";' },
      { path: "src/chess/x.ts", text: 'import { A } from "../../gen/google/rpc/error_details_pb.ts";' },
    ],
  },
  {
    promise: "only engine/uci and engine/backends speak UCI to engines, and cli/uci to chess programs",
    about: (path) => anySource(path) && !/^src\/(engine\/(uci|backends)|cli\/uci)\//.test(path),
    breaches: (file) =>
      stringsOf(file)
        .filter(({ text, path }) =>
          // `bestmove` is also a call, of /v1 and of the command line.
          isWiring(placeOf(path)) ||
          inRoom("http", "protocols/json")(path) ||
          path === "src/errors/catalogue.ts"
            ? /\b(ucinewgame|setoption|isready|readyok|uciok)\b|bestmove [a-h]/.test(text)
            : /\b(ucinewgame|setoption|bestmove|isready|readyok|uciok)\b|\b(go depth|position fen)\b/.test(
                text,
              ),
        )
        .map(({ line, text }) => [line, `${text} is UCI`]),
    broken: [
      { path: "src/engine/pool.ts", text: 'send("ucinewgame");' },
      { path: "src/analysis/x.ts", text: 'const line = "setoption name Hash";' },
      { path: "src/services/x.ts", text: "if (line.startsWith('bestmove')) {}" },
      { path: "src/wiring/app.ts", text: 'send("isready");' },
      { path: "src/cli/x.ts", text: 'say("uciok");' },
    ],
  },
  {
    promise:
      "what speaks UCI to chess programs asks as every caller does: only its analysts know whom, and none an engine",
    about: inFolder("src/cli/uci/"),
    breaches: (file) => {
      const isAnalyst = /^src\/cli\/uci\/[a-z-]*analyst[a-z-]*\.ts$/.test(file.path);
      const known = isAnalyst
        ? /^(src\/(cli|calls|analysis|chess|errors|request|text)\/|gen\/chess\/|@connectrpc\/connect$)/
        : /^src\/(cli\/uci|chess|errors|text|thread)\/|^src\/analysis\/analysis\.ts$/;
      return importsOf(file)
        .filter(({ target }) => !known.test(target))
        .map(({ line, target }) => [line, `cli/uci may not look into ${target}`]);
    },
    broken: [
      { path: "src/cli/uci/x.ts", text: 'import { parseLine } from "../../engine/uci/parse-line.ts";' },
      { path: "src/cli/uci/x.ts", text: 'import { spawn } from "node:child_process";' },
      { path: "src/cli/uci/session.ts", text: 'import { createService } from "../../wiring/service.ts";' },
      { path: "src/cli/uci/session.ts", text: 'import { openLocal } from "../open-local.ts";' },
      {
        path: "src/cli/uci/local-analyst.ts",
        text: 'import type { EngineSession } from "../../engine/engine.ts";',
      },
    ],
  },
  {
    promise: "only the catalogue, its mappers and the doors know HTTP statuses",
    about: (path) =>
      anySource(path) && !/^src\/(http\/|protocols\/|errors\/(catalogue|problem)\.ts$)/.test(path),
    breaches: (file) =>
      codeLinesOf(file)
        // Numbers of milliseconds, items or characters, and the exit codes that the command line makes of statuses.
        .filter(({ code }) => httpStatus.test(code) && !/(Ms|Max)\b|slice\(|exitCode/.test(code))
        .map(({ line, code }) => [line, `${code.trim()} looks like an HTTP status`]),
    broken: [
      { path: "src/analysis/x.ts", text: "throw new HttpError(404);" },
      { path: "src/calls/invoke.ts", text: "if (status === 503) {}" },
      { path: "src/wiring/app.ts", text: "response.statusCode = 200;" },
    ],
  },
  {
    promise: "process.env is read by the command line alone",
    about: (path) => anySource(path) && !/^src\/(cli\/|wiring\/config\.ts$)/.test(path),
    breaches: (file) =>
      codeLinesOf(file)
        .filter(({ code }) =>
          /\bprocess\s*\.\s*env\b|\benv\b[^}]*\}\s*=\s*process\b|import.*\benv\b.*process/.test(code),
        )
        .map(({ line }) => [line, "reads the environment; settings come from config.ts"]),
    broken: [
      { path: "src/services/x.ts", text: "const level = process.env.LEVEL;" },
      { path: "src/wiring/app.ts", text: "const { env } = process;" },
      { path: "src/wiring/app.ts", text: 'import { env } from "node:process";' },
    ],
  },
  {
    promise:
      "only who counts hours and days, or looks whether it is right, reads the wall clock: it may jump, and durations must not",
    about: (path) =>
      anySource(path) &&
      !/^src\/(access\/|cli\/keys\.ts$|cli\/doctor\/machine\.ts$|metrics\/metrics\.ts$|services\/key-service\.ts$)/.test(
        path,
      ),
    breaches: (file) =>
      codeLinesOf(file)
        .filter(({ code }) => /\bDate\s*\.\s*now\b|\bnew\s+Date\b/.test(code))
        .map(({ line }) => [line, "reads the wall clock; durations are measured with performance.now()"]),
    broken: [
      { path: "src/engine/x.ts", text: "const startedAt = Date.now();" },
      { path: "src/services/x.ts", text: "const at = new Date();" },
    ],
  },
];

const files = readSources(["src", "test", "bench", "tools"]).filter(
  ({ path }) => path !== "test/architecture.test.ts",
);

testLaws(laws, files);

test("every room of the house is known, and every file was read", () => {
  const rooms = new Set(files.filter(({ path }) => /^src\/.+\//.test(path)).map(({ path }) => placeOf(path)));
  expect([...rooms].toSorted()).toEqual([...Object.keys(mayLookInto), ...basics, "cli", "wiring"].toSorted());
  expect(files.length).toBeGreaterThan(100);
  const loose = files.filter(({ path }) => /^src\/[^/]+$/.test(path)).map(({ path }) => path);
  expect(loose.toSorted()).toEqual(["src/main.ts"]);
});

test("no file imports itself through others, not even for its types", () => {
  const circle = { path: "src/a.ts", text: 'import type { B } from "./b.ts";' };
  const back = { path: "src/b.ts", text: 'import { a } from "./a.ts";' };
  expect(circlesIn([circle, back])).toEqual(["src/a.ts → src/b.ts → src/a.ts"]);
  expect(circlesIn(files)).toEqual([]);
});

/** Each found once, from where the search meets it first. */
function circlesIn(some: readonly SourceFile[]): readonly string[] {
  const targets = new Map(some.map((file) => [file.path, importsOf(file).map(({ target }) => target)]));
  const done = new Set<string>();
  const circles: string[] = [];
  const follow = (path: string, way: readonly string[]) => {
    const met = way.indexOf(path);
    if (met >= 0) {
      circles.push([...way.slice(met), path].join(" → "));
    } else if (!done.has(path)) {
      for (const target of targets.get(path) ?? []) {
        follow(target, [...way, path]);
      }
      done.add(path);
    }
  };
  for (const path of targets.keys()) {
    follow(path, []);
  }
  return circles;
}

/** The room of a file, or the name of a file that stands beside the rooms. Each protocol has a room of its own. */
function placeOf(path: string): string {
  const [, room = "", inner = ""] = path.replace(/\.ts$/, "").split("/");
  return room === "protocols" ? `${room}/${inner}` : room;
}

const httpStatus = /(?<![\w.])(20[0-4]|30[12478]|40[0-9]|41[0-7]|422|42[89]|431|50[0-4])(?![\w.])/;

function stringsOf(
  file: SourceFile,
): readonly { readonly line: number; readonly text: string; readonly path: string }[] {
  return codeLinesOf(file).flatMap(({ line, code }) =>
    [...code.matchAll(/(["'`])(?:\\.|(?!\1).)*\1/g)].map(([text]) => ({ line, text, path: file.path })),
  );
}
