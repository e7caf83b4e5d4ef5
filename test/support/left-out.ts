import { parseAst } from "vitest/node";

/** Part of a syntax tree, as ESTree names it. */
interface Node {
  readonly type: string;
  readonly start: number;
  readonly [part: string]: unknown;
}

/** What one file leaves out of its tests, or only seems to show: the line of each, and what is wrong with it. */
export function leftOutIn(text: string): readonly (readonly [line: number, message: string])[] {
  const tree = parseAst(text, { lang: "ts" }) as unknown as Node;
  const asking = namesThatAsk(tree);
  const breaches: [line: number, message: string][] = [];
  walk(tree, [], (node, above) => {
    const message = breachAt(node, above, asking);
    if (message !== undefined) {
      breaches.push([text.slice(0, node.start).split("\n").length, message]);
    }
  });
  return breaches;
}

function breachAt(node: Node, above: readonly Node[], asking: ReadonlySet<string>): string | undefined {
  if (leavesOut(node, above)) {
    return "leaves tests out: say what they need with test/support/needs.ts";
  }
  if (
    isNamed(node, tests) &&
    !isPart(node, above.at(-1)) &&
    above.some(({ type }) => conditions.includes(type))
  ) {
    return "a test under a condition is none where that is not met";
  }
  if (node.type === "ReturnStatement" && isEarly(above)) {
    return "the rest of a test is left out, and nobody is told";
  }
  if (isNamed(node, /^expect$/) && above.findLast(isLoopOrFunction)?.await === true) {
    return "of a stream that holds nothing this expects nothing";
  }
  if (decides(node, above) && uses(node.test as Node, asking)) {
    return "what this machine has decides what is tested: leave that to test/support/needs.ts";
  }
  return undefined;
}

const leaving = /^(skip|only|todo|fails|skipIf|runIf|retry)$/;
const tests = /^(it|suite|describe|describeWith|test([A-Z]\w*)?)$/;
/** What a test can be under, beside what it is in. */
const conditions = ["IfStatement", "ConditionalExpression", "LogicalExpression", "SwitchCase", "CatchClause"];
/** How tests ask what there is on this machine. */
const finders = /^(nativeStockfish|findChromium|isInstalled|getuid|geteuid|platform|versions)$/;

/** `test.skip`, `at["skip"]()`, `({ skip }) => …`, `test("x", { skip: true }, …)`. */
function leavesOut(node: Node, above: readonly Node[]): boolean {
  const key = (node.type === "MemberExpression" ? node.property : node.type === "Property" && node.key) as
    | Node
    | false;
  if (!key || !(leaving.test(String(key.name)) || leaving.test(String(key.value)))) {
    return false;
  }
  const [outer, within] = above.slice(-2).toReversed();
  return node.type === "MemberExpression" || outer?.type === "ObjectPattern" || isTest(within);
}

/** As `test` is in `/x/.test(text)` and in `{ test: 1 }`. */
function isPart(node: Node, outer: Node | undefined): boolean {
  return outer?.property === node || outer?.key === node;
}

/** A call that says what a test does. */
function isTest(node: Node | undefined): boolean {
  return node?.type === "CallExpression" && isNamed(rootOf(node), tests);
}

/** `test` in `test.each(rows)("name", body)`. */
function rootOf(node: Node): Node {
  const next = node.callee ?? node.object ?? node.tag;
  return next ? rootOf(next as Node) : node;
}

/** Of the body of a test or group itself, and not at its end. */
function isEarly(above: readonly Node[]): boolean {
  const at = above.findLastIndex(isFunction);
  return isTest(above[at - 1]) && above.length > at + 2;
}

/** Where one side has rows or statements that the other lacks. */
function decides(node: Node, above: readonly Node[]): boolean {
  return (
    node.type === "IfStatement" ||
    (node.type === "ConditionalExpression" &&
      (above.at(-1)?.type === "SpreadElement" || [node.consequent, node.alternate].some(isList)))
  );
}

const isList = (node: unknown) => (node as Node).type === "ArrayExpression";
const isFunction = ({ type }: Node) => /Function/.test(type);
const isLoopOrFunction = (node: Node) => isFunction(node) || /^For|^While/.test(node.type);
const isNamed = (node: Node, pattern: RegExp) =>
  node.type === "Identifier" && pattern.test(String(node.name));

/** Finders, and what is made of their answers. */
function namesThatAsk(tree: Node): ReadonlySet<string> {
  const names = new Set<string>();
  walk(tree, [], (node) => {
    if (isNamed(node, finders)) {
      names.add(String(node.name));
    }
    const { id, init } = node as { id?: Node; init?: Node };
    if (node.type === "VariableDeclarator" && id && init && !isFunction(init) && uses(init, names)) {
      names.add(String(id.name));
    }
  });
  return names;
}

/** A value with a default is there on every machine. */
function uses(part: Node, names: ReadonlySet<string>): boolean {
  let found = false;
  walk(part, [], (node, above) => {
    const isAsking = node.type === "Identifier" && (names.has(String(node.name)) || isNamed(node, finders));
    found ||= isAsking && !above.some(({ operator }) => operator === "??");
  });
  return found;
}

function walk(node: Node, above: readonly Node[], visit: (node: Node, above: readonly Node[]) => void): void {
  visit(node, above);
  for (const part of Object.values(node).flat()) {
    if (typeof part === "object" && part !== null && "type" in part) {
      walk(part as Node, [...above, node], visit);
    }
  }
}
