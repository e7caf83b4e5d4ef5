import { parseSync } from "vite";
import { expect, test } from "vitest";
import { readSources } from "./support/imports.ts";

/**
 * The promises that a request starts and no code awaits, and the function that owns their errors. Add a row only if this function
 * cannot throw, because its error would be an unhandled rejection.
 */
const owners: Readonly<Record<string, string>> = {
  "src/http/listener/dispatch.ts: createDispatch: handle.catch": "fail",
  "src/http/listener/listener.ts: stop: stopped.then": "clear",
  "src/http/metrics-server.ts: openMetricsServer: answer.catch.catch": "owner.end",
  "src/protocols/json/send-answer.ts: beat: beating.catch": "abortResponse",
  // The error reaches withFirst too. It is lost only if the client has left.
  "src/protocols/json/answers.ts: createRouteHandler: first.catch": "() => {}",
  // The dispatcher listens to the errors of each response, and logs them.
  "src/protocols/connect/workarounds.ts: end: body.return.catch.then.catch": "res.emit",
  // The generator has already thrown this error to its reader.
  "src/protocols/connect/handlers.ts: stream: reading.return.catch": "() => {}",
  // The client has disconnected, so nobody can get the error.
  "src/protocols/mcp/server.ts: report: mcpReq.notify.catch": "() => {}",
  // The same promise belongs to `counting`, which answerMessage awaits.
  "src/protocols/mcp/server.ts: reportErrors: refused.catch": "() => {}",
  // The caller of readNext awaits the same promise.
  "src/services/review-game.ts: readNext: next.catch": "() => {}",
  // The generator awaits the promise that these functions settle.
  "src/services/tools/reflection.ts: untilAborted: reader.next.then": "reject",
  // If the store fails, the errors of callers are not counted.
  "src/access/error-quota.ts: add: charge.catch": "() => {}",
};

interface Node {
  readonly type: string;
  readonly start: number;
  readonly [name: string]: unknown;
}

const listens = new Set([
  ...["on", "once", "addListener", "prependListener", "prependOnceListener", "addEventListener"],
  ...["after", "every", "soon", "nextTick", "queueMicrotask"],
]);

const chains = new Set(["then", "catch", "finally"]);

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && "type" in value;
}

function partsOf(node: Node): readonly Node[] {
  return Object.values(node).flat().filter(isNode);
}

/** Calls `visit` for each node with the nodes around it, innermost first. */
function walk(
  node: Node,
  visit: (node: Node, around: readonly Node[]) => void,
  around: readonly Node[] = [],
): void {
  visit(node, around);
  for (const part of partsOf(node)) {
    walk(part, visit, [node, ...around]);
  }
}

function isFunction({ type }: Node): boolean {
  return /^(ArrowFunctionExpression|FunctionExpression|FunctionDeclaration)$/.test(type);
}

/** Returns `fail` for `fail(…)` and `once` for `res.once(…)`. */
function calledName(node: Node): string | undefined {
  if (node.type === "ChainExpression") {
    return calledName(node.expression as Node);
  }
  const callee = node.type === "CallExpression" ? (node.callee as Node) : undefined;
  const named = callee?.type === "MemberExpression" ? (callee.property as Node) : callee;
  return named?.type === "Identifier" ? String(named.name) : undefined;
}

function nameOfFunction(node: Node, [holder]: readonly Node[]): string | undefined {
  const named = (node.id ?? holder?.id ?? holder?.key) as Node | undefined | null;
  return named?.type === "Identifier" ? String(named.name) : undefined;
}

/** True if the value of the expression is used by nothing: it is a statement, an operand of `void`, or the result of a listener. */
function isDropped(node: Node, around: readonly Node[]): boolean {
  const [holder, ...outer] = around;
  if (holder === undefined) {
    return false;
  }
  switch (holder.type) {
    case "ExpressionStatement":
      return true;
    case "UnaryExpression":
      return holder.operator === "void";
    case "ChainExpression":
    case "LogicalExpression":
    case "ConditionalExpression":
      return isDropped(holder, outer);
    case "ArrowFunctionExpression":
      return holder.body === node && isListener(holder, outer);
    default:
      return false;
  }
}

function isListener(node: Node, [call]: readonly Node[]): boolean {
  return call?.type === "CallExpression" && call.callee !== node && listens.has(calledName(call) ?? "");
}

interface Unawaited {
  /** `path: function that starts the promise: promise` */
  readonly name: string;
  /** The source of the function that gets an error of the promise. Undefined if no function gets it. */
  readonly owner: string | undefined;
}

/** Finds the async listeners of a source, and the promises that no code awaits. */
function unawaitedIn(path: string, text: string): readonly Unawaited[] {
  const { program, errors } = parseSync(path, text);
  expect(errors).toEqual([]);
  const root = program as unknown as Node;
  const asyncNames = new Set<string>();
  walk(root, (node, around) => {
    if (isFunction(node) && node.async === true && node.generator !== true) {
      asyncNames.add(nameOfFunction(node, around) ?? "");
    }
  });
  const found: Unawaited[] = [];
  walk(root, (node, around) => {
    const starter = around
      .map((one, index) => (isFunction(one) ? nameOfFunction(one, around.slice(index + 1)) : undefined))
      .find((name) => name !== undefined);
    const add = (what: string, owner?: string) => {
      found.push({ name: `${path}: ${starter ?? "top"}: ${what}`, owner });
    };
    if (isFunction(node) && node.async === true && isListener(node, around)) {
      add("an async listener");
    }
    if (node.type === "Identifier" && asyncNames.has(String(node.name)) && isListener(node, around)) {
      add(`${node.name} as a listener`);
    }
    const name = calledName(node);
    if (node.type !== "CallExpression" || name === undefined || !isDropped(node, around)) {
      return;
    }
    const isVoid = around[0]?.type === "UnaryExpression";
    const isOfFile = (node.callee as Node).type === "Identifier" && asyncNames.has(name);
    if (isVoid || chains.has(name) || isOfFile) {
      add(chainOf(node, text), ownerOf(node, name, text));
    }
  });
  return found;
}

/** Returns the source of the function that a chain calls with its error, if the chain ends with such a function. */
function ownerOf(node: Node, name: string, text: string): string | undefined {
  const [first, second] = node.arguments as readonly Node[];
  const handler = name === "catch" ? first : name === "then" ? second : undefined;
  return handler && text.slice(handler.start, Number(handler.end));
}

/** Returns the names of a chain: `body.return.catch` for `body.return().catch(() => {})`. */
function chainOf(node: Node, text: string): string {
  const callee = node.callee as Node | undefined;
  if (node.type === "CallExpression" && callee) {
    return chainOf(callee, text);
  }
  if (node.type === "MemberExpression") {
    return `${chainOf(node.object as Node, text)}.${String((node.property as Node).name)}`;
  }
  return text.slice(node.start, Number(node.end));
}

const sources = readSources(["src"]).filter(({ path }) =>
  /^src\/(http|protocols|calls|services|access)\//.test(path),
);

const unawaited = sources.flatMap(({ path, text }) => unawaitedIn(path, text));

test("a function owns the errors of each promise that a request starts and no code awaits", () => {
  expect(unawaited.filter(({ owner }) => owner === undefined).map(({ name }) => name)).toEqual([]);
  expect(unawaited.map(({ name }) => name).toSorted()).toEqual(Object.keys(owners).toSorted());
  for (const { name, owner } of unawaited) {
    expect(owner, name).toContain(owners[name]);
  }
});

test.each([
  ["void before a call", "function start() { void send(); }", "start: send"],
  [
    "an async listener",
    'function start() { res.once("close", async () => {}); }',
    "start: an async listener",
  ],
  ["an async timer", "const start = () => { after(1, async function () {}); };", "start: an async listener"],
  [
    "an async function as a listener",
    "async function end() {}\nreq.on('end', end);",
    "top: end as a listener",
  ],
  ["a listener that returns a promise", "async function end() {}\nreq.on('end', () => end());", "top: end"],
  ["a chain without catch", "function start() { read().then(write); }", "start: read.then"],
  ["a chain that ends with finally", "function start() { read().finally(end); }", "start: read.finally"],
  ["a chain behind a condition", "function start() { isOpen && read().then(write); }", "start: read.then"],
  ["a call of an async function", "async function read() {}\nfunction start() { read(); }", "start: read"],
])("the search for promises without an owner finds %s", (_, text, name) => {
  expect(unawaitedIn("a.ts", text)).toEqual([{ name: `a.ts: ${name}`, owner: undefined }]);
});

test.each([
  "async function start() { await read().then(write); }",
  "const start = () => read().then(write);",
  "const reading = read().then(write);",
  "const start = async () => {};\nhandlers.push(start());",
])("the search for promises without an owner does not find a promise that other code gets: %s", (text) => {
  expect(unawaitedIn("a.ts", text)).toEqual([]);
});
