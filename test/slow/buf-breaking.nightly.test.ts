import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { expect, test } from "vitest";
import { useTemporaryFolder } from "../support/temporary-folder.ts";

const root = join(import.meta.dirname, "../..");
const folder = useTemporaryFolder();

function check(copy: string, ...args: readonly string[]) {
  const PATH = [join(root, "node_modules/.bin"), process.env.PATH].join(delimiter);
  const { status, stdout, stderr } = spawnSync("bash", ["tools/buf-breaking.sh", ...args], {
    cwd: copy,
    env: { ...process.env, PATH },
    encoding: "utf8",
  });
  return { status, said: stdout + stderr };
}

test("the check for breaking changes reports a renamed field, a renumbered field and a removed call, but not a new field", () => {
  const copy = mkdtempSync(join(folder, "contract-"));
  for (const part of [
    "buf.yaml",
    "proto",
    "third_party",
    "tools/buf-breaking.sh",
    "tools/contract-base.binpb",
    "tools/intended-breaks.txt",
  ]) {
    cpSync(join(root, part), join(copy, part), { recursive: true });
  }
  const before = check(copy);
  expect(before.status).toBe(0);

  const path = join(copy, "proto/chess/analysis/v1/analysis_service.proto");
  let source = readFileSync(path, "utf8");
  for (const [text, replacement] of [
    ["optional uint32 multipv = 2", "optional uint32 lines = 2"],
    ["repeated Line lines = 9;", "repeated Line lines = 19;"],
    ["rpc GetPrice(", "rpc TellPrice("],
    ["  string summary = 14;", "  string summary = 14;\n  // More.\n  string more = 1000;"],
  ] as const) {
    expect(source).toContain(text);
    source = source.replace(text, replacement);
  }
  writeFileSync(path, source);
  const { status, said } = check(copy);
  expect(status).toBe(100);
  const complaints = said
    .trim()
    .split("\n")
    .filter((line) => !before.said.includes(line));
  const about = [/changed name from "multipv"/, /field "9"/i, /RPC "GetPrice"/];
  for (const pattern of about) {
    expect(said).toMatch(pattern);
  }
  expect(complaints.filter((line) => !/(field "9"|Field "2"|RPC "GetPrice") /.test(line))).toEqual([]);
});

const file = "proto/small/v1/small.proto";

/** Creates a Git repository with this project's rules, a small proto and a recorded copy of the proto, but no release tag. */
function repository() {
  const copy = mkdtempSync(join(folder, "repository-"));
  for (const part of ["buf.yaml", "third_party/google/api/http.proto", "tools/buf-breaking.sh"]) {
    cpSync(join(root, part), join(copy, part), { recursive: true });
  }
  const write = (path: string, text: string) => writeFileSync(join(copy, path), text);
  const git = (...args: readonly string[]) =>
    execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@example.com", ...args], {
      cwd: copy,
      stdio: "pipe",
    });
  const commit = (message: string) => {
    git("add", "--all");
    git("commit", "--quiet", "--allow-empty", "--message", message);
  };
  mkdirSync(join(copy, dirname(file)), { recursive: true });
  const rename = (name: string) =>
    write(file, `syntax = "proto3";\npackage small.v1;\n\nmessage Small {\n  string ${name} = 5;\n}\n`);
  rename("remaining");
  const noBreaks = "# None.\n";
  write("tools/intended-breaks.txt", noBreaks);
  execFileSync(join(root, "node_modules/.bin/buf"), ["build", "proto", "-o", "tools/contract-base.binpb"], {
    cwd: copy,
  });
  git("init", "--quiet", "--initial-branch", "main");
  commit("Begin");
  return {
    write,
    git,
    commit,
    rename,
    noBreaks,
    listed: () => readFileSync(join(copy, "tools/intended-breaks.txt"), "utf8"),
    run: (...args: readonly string[]) => check(copy, ...args),
  };
}

const complaintOf = (name: string) =>
  `Field "5" on message "Small" changed name from "remaining" to "${name}".`;
const jsonNameOf = (name: string) =>
  `Field "5" with name "${name}" on message "Small" changed option "json_name" from "remaining" to "${name}".`;
const intended = (name: string) => `\n# 2026-11-22\n${jsonNameOf(name)}\n${complaintOf(name)}\n`;

test("the check for breaking changes finds a breaking change in the last commit and in earlier commits", () => {
  const { commit, rename, run } = repository();
  expect(run().status).toBe(0);
  rename("left");
  commit("Break");
  commit("Go on");
  commit("Go on");
  expect(run()).toMatchObject({ status: 100, said: expect.stringContaining(complaintOf("left")) });
});

test("the check for breaking changes accepts a break only if its exact text is listed as intended", () => {
  const { write, noBreaks, rename, run } = repository();
  write("tools/intended-breaks.txt", noBreaks + intended("left"));
  rename("left");
  expect(run()).toMatchObject({ status: 0, said: expect.stringContaining("intended: ") });
  rename("leftover");
  expect(run()).toMatchObject({ status: 100, said: expect.stringContaining(complaintOf("leftover")) });
});

test("recording the proto as the basis of comparison empties the list of intended breaks, and fails while a break is not listed", () => {
  const { write, noBreaks, listed, rename, run } = repository();
  rename("left");
  expect(run("--record").status).toBe(100);
  expect(run().status).toBe(100);
  write("tools/intended-breaks.txt", noBreaks + intended("left"));
  expect(run("--record").status).toBe(0);
  expect(listed()).toBe(noBreaks);
  expect(run()).toMatchObject({ status: 0, said: "" });
  rename("remaining");
  expect(run().status).toBe(100);
});

test("after a release, the check for breaking changes fails for every break, even if the break is listed as intended", () => {
  const { write, git, noBreaks, commit, rename, run } = repository();
  git("tag", "v0.1.0");
  write("tools/intended-breaks.txt", noBreaks + intended("left"));
  rename("left");
  commit("Break");
  expect(run()).toMatchObject({ status: 1, said: expect.stringContaining("v0.1.0 is out") });
  write("tools/intended-breaks.txt", noBreaks);
  expect(run("--record")).toMatchObject({ status: 100, said: expect.stringContaining(complaintOf("left")) });
});

test("the check for breaking changes fails if the proto cannot be parsed", () => {
  const { write, run } = repository();
  write(file, "nonsense");
  expect(run().status).not.toBe(0);
});
