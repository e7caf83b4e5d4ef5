import { expect, test } from "vitest";
import { codeLinesOf, importsOf, type Law, readSources, testLaws } from "./support/laws.ts";

/** The walls of the page, as ARCHITECTURE.md draws them: rooms of `web/src/`, and the files that stand beside them. */

/** What each may look into, beside itself. */
const mayLookInto: Readonly<Record<string, readonly string[]>> = {
  texts: [],
  view: [],
  "kind-of-text": [],
  parts: ["texts"],
  client: ["texts"],
  pasted: ["kind-of-text", "view"],
  board: ["parts", "texts"],
  graph: ["parts", "texts"],
  request: ["client", "parts", "texts"],
  problem: ["client", "request", "parts", "texts"],
  "place-text": ["board", "request"],
  address: ["place-text", "request", "view"],
  call: ["pasted", "problem", "client", "parts", "texts"],
};
const below = Object.keys(mayLookInto);
/** A position goes from one to the other by its address. */
const views = ["analysis", "review"];
/** What puts them together. Nobody looks into these. */
const top = ["app", "main"];

/** Of the service, the page has what is pure: the rules of the game, and plain JSON as a form of messages. */
const pureRooms = /^src\/(chess|game|protocols\/json)\//;

const inPage = (path: string) => path.startsWith("web/src/");

const laws: readonly Law[] = [
  {
    promise: "imports of the page point down, and its views do not know each other",
    about: (path) => inPage(path) && !top.includes(placeOf(path)),
    breaches: (file) => {
      const place = placeOf(file.path);
      const seen = [place, ...(views.includes(place) ? below : (mayLookInto[place] ?? []))];
      const isSeen = (target: string) =>
        inPage(target)
          ? seen.includes(placeOf(target))
          : !target.startsWith("src/") || pureRooms.test(target);
      return importsOf(file)
        .filter(({ target }) => !isSeen(target))
        .map(({ line, target }) => [line, `${place} may not look into ${target}`]);
    },
    broken: [
      { path: "web/src/analysis/x.tsx", text: 'import { A } from "../review/review.tsx";' },
      { path: "web/src/review/x.ts", text: 'import { played } from "../analysis/play.ts";' },
      { path: "web/src/parts/x.tsx", text: 'import { key } from "../client/key.ts";' },
      { path: "web/src/board/x.tsx", text: 'import { view } from "../view.ts";' },
      { path: "web/src/review/x.ts", text: 'import { A } from "../app.tsx";' },
      { path: "web/src/client/x.ts", text: 'import { A } from "../../../src/engine/engine.ts";' },
    ],
  },
  {
    promise: "the page calls the service by the generated clients alone",
    // That one writes what others run.
    about: (path) => inPage(path) && path !== "web/src/call/snippets.ts",
    breaches: (file) =>
      codeLinesOf(file)
        .filter(({ code }) => /\b(fetch\(|XMLHttpRequest|EventSource|WebSocket|sendBeacon)/.test(code))
        .map(({ line, code }) => [line, `${code.trim()} goes past web/src/client/service.ts`]),
    broken: [
      { path: "web/src/review/x.ts", text: 'await fetch("v1/review");' },
      { path: "web/src/call/x.ts", text: 'new EventSource("v1/eval/stream");' },
    ],
  },
  {
    promise: "the page makes no HTML of text, and has no styles in attributes",
    about: inPage,
    breaches: (file) =>
      codeLinesOf(file)
        .filter(({ code }) =>
          /\b(inner|outer)HTML\b|SetInnerHTML|insertAdjacentHTML|document\.write|"style"|\bstyle="/.test(
            code,
          ),
        )
        .map(({ line, code }) => [line, `${code.trim()} is against the page's policy`]),
    broken: [
      { path: "web/src/call/x.tsx", text: "element.innerHTML = text;" },
      { path: "web/src/call/x.tsx", text: "<p dangerouslySetInnerHTML={{ __html }} />" },
      { path: "web/src/call/x.tsx", text: '<p style="color: red" />' },
    ],
  },
  {
    promise: "no file of the page is longer than 250 lines, but for its texts",
    about: (path) => inPage(path) && path !== "web/src/texts.ts",
    breaches: ({ text }) => {
      const lines = text.trimEnd().split("\n").length;
      return lines > 250 ? [[lines, `${lines} lines: what are its parts?`]] : [];
    },
    broken: [{ path: "web/src/x.tsx", text: "a\n".repeat(251) }],
  },
];

const files = readSources(["web"]);

testLaws(laws, files);

test("every room of the page is known", () => {
  const places = new Set(files.filter(({ path }) => inPage(path)).map(({ path }) => placeOf(path)));
  expect([...places].toSorted()).toEqual([...below, ...views, ...top].toSorted());
});

/** The room of a file, or the name of a file that stands beside the rooms. */
function placeOf(path: string): string {
  const [, , place = ""] = path.replace(/\.tsx?$/, "").split("/");
  return place;
}
