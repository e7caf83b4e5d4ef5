import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { useTemporaryFolder } from "../support/temporary-folder.ts";

const buf = join(import.meta.dirname, "../../node_modules/.bin/buf");
const before = join(import.meta.dirname, "../..");
const after = useTemporaryFolder();

const breaks = [
  {
    what: "a field has another name",
    text: "optional uint32 multipv = 2",
    replacement: "optional uint32 lines = 2",
    complaint: 'changed name from "multipv"',
  },
  {
    what: "a field has another number",
    text: "repeated Line lines = 9;",
    replacement: "repeated Line lines = 19;",
    complaint: 'field "9"',
  },
  {
    what: "a call is gone",
    text: "rpc GetPrice(",
    replacement: "rpc TellPrice(",
    complaint: 'RPC "GetPrice"',
  },
];

const field = "  string summary = 14;";
const harmless = { text: field, replacement: `${field}\n  // More.\n  string more = 15;` };

describe("of the proto with all of these changes", () => {
  let complaints: readonly string[] = [];
  beforeAll(() => {
    for (const part of ["buf.yaml", "proto", "third_party"]) {
      cpSync(join(before, part), join(after, part), { recursive: true });
    }
    const path = join(after, "proto/chess/analysis/v1/analysis_service.proto");
    let source = readFileSync(path, "utf8");
    for (const { text, replacement } of [...breaks, harmless]) {
      expect(source).toContain(text);
      source = source.replace(text, replacement);
    }
    writeFileSync(path, source);
    const { stdout } = spawnSync(buf, ["breaking", after, "--against", before], { encoding: "utf8" });
    complaints = stdout.trim().split("\n");
  });

  test.each(breaks)("is told that $what", ({ complaint }) => {
    expect(complaints).toContainEqual(expect.stringContaining(complaint));
  });

  test("nothing is said of a field that comes new", () => {
    const others = complaints.filter((each) => !/(field "9"|Field "2"|RPC "GetPrice") /.test(each));
    expect(others).toEqual([]);
  });
});

describe("the gate", () => {
  const file = "proto/small/v1/small.proto";
  const protoWith = (name: string) => `syntax = "proto3";\npackage small.v1;\n
message Small {\n  string ${name} = 5;\n}\n`;

  /** A repository with the rules of this one and a proto that is read quickly, on main, where nothing has been released. */
  function repository() {
    const root = mkdtempSync(join(after, "repository-"));
    for (const part of ["buf.yaml", "third_party/google/api/http.proto", "tools/buf-breaking.sh"]) {
      cpSync(join(before, part), join(root, part), { recursive: true });
    }
    const write = (file: string, text: string) => writeFileSync(join(root, file), text);
    const git = (...args: readonly string[]) =>
      execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@example.com", ...args], {
        cwd: root,
        stdio: "pipe",
      });
    const commit = (message: string) => {
      git("add", "--all");
      git("commit", "--quiet", "--allow-empty", "--message", message);
    };
    mkdirSync(join(root, dirname(file)), { recursive: true });
    const rename = (name: string) => write(file, protoWith(name));
    rename("remaining");
    write("tools/intended-breaks.txt", "# None.\n");
    git("init", "--quiet", "--initial-branch", "main");
    commit("Begin");
    commit("Go on");
    const gate = () => {
      const PATH = [join(before, "node_modules/.bin"), process.env.PATH].join(delimiter);
      const { status, stdout, stderr } = spawnSync("bash", ["tools/buf-breaking.sh"], {
        cwd: root,
        env: { ...process.env, PATH },
        encoding: "utf8",
      });
      return { status, said: stdout + stderr };
    };
    return { write, git, commit, rename, gate };
  }

  const complaintOf = (name: string) =>
    `Field "5" on message "Small" changed name from "remaining" to "${name}".`;
  const jsonNameOf = (name: string) =>
    `Field "5" with name "${name}" on message "Small" changed option "json_name" from "remaining" to "${name}".`;
  const intended = (name: string) => `# 2026-11-22\n${jsonNameOf(name)}\n${complaintOf(name)}\n`;

  test("is open where nothing breaks, and shut for what nobody intended", () => {
    const { rename, gate } = repository();
    expect(gate().status).toBe(0);
    rename("left");
    expect(gate()).toMatchObject({ status: 100, said: expect.stringContaining(complaintOf("left")) });
  });

  test("lets through what is written down, and nothing like it, on main and on a branch", () => {
    const { write, git, commit, rename, gate } = repository();
    for (const branch of [() => {}, () => git("switch", "--quiet", "--create", "branch")]) {
      branch();
      write("tools/intended-breaks.txt", intended("left"));
      rename("left");
      expect(gate()).toMatchObject({ status: 0, said: expect.stringContaining("intended: ") });
      rename("leftover");
      expect(gate()).toMatchObject({ status: 100, said: expect.stringContaining(complaintOf("leftover")) });
      rename("remaining");
      commit("Nothing");
    }
  });

  test("knows in the next commit what the last one was let through with, and no more", () => {
    const { write, commit, rename, gate } = repository();
    write("tools/intended-breaks.txt", intended("left"));
    rename("left");
    commit("Break");
    expect(gate().status).toBe(0);
    commit("Go on");
    expect(gate().status).toBe(0);
    rename("remaining");
    expect(gate().status).toBe(100);
  });

  test("lets nothing through once there is a release", () => {
    const { write, git, commit, rename, gate } = repository();
    git("tag", "v0.1.0");
    write("tools/intended-breaks.txt", intended("left"));
    rename("left");
    commit("Break");
    expect(gate()).toMatchObject({ status: 1, said: expect.stringContaining("v0.1.0 is out") });
    write("tools/intended-breaks.txt", "");
    expect(gate()).toMatchObject({ status: 100, said: expect.stringContaining(complaintOf("left")) });
  });

  test("fails where the proto cannot be read", () => {
    const { write, gate } = repository();
    write(file, "nonsense");
    expect(gate().status).not.toBe(0);
  });
});
