import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { describe, expect, test } from "vitest";
import { useTemporaryFolder } from "./support/temporary-folder.ts";

const buf = join(import.meta.dirname, "../node_modules/.bin/buf");
const before = join(import.meta.dirname, "..");
const after = useTemporaryFolder();

/** What `buf breaking` says of the proto as it stands, with this text replaced. */
function complaints(file: string, text: string, replacement: string): string {
  for (const part of ["buf.yaml", "proto", "third_party"]) {
    cpSync(join(before, part), join(after, part), { recursive: true });
  }
  const path = join(after, "proto/chess/analysis/v1", file);
  const source = readFileSync(path, "utf8");
  expect(source).toContain(text);
  writeFileSync(path, source.replace(text, replacement));
  try {
    execFileSync(buf, ["breaking", after, "--against", before], { encoding: "utf8", stdio: "pipe" });
    return "";
  } catch (failed) {
    return (failed as { stdout: string }).stdout;
  }
}

test.each([
  [
    "a field has another name",
    "optional uint32 multipv = 2",
    "optional uint32 lines = 2",
    'changed name from "multipv"',
  ],
  ["a field has another number", "repeated Line lines = 9;", "repeated Line lines = 19;", 'field "9"'],
  ["a call is gone", "rpc GetPrice(", "rpc TellPrice(", 'RPC "GetPrice"'],
])("is told when %s", (_, text, replacement, complaint) => {
  expect(complaints("analysis_service.proto", text, replacement)).toContain(complaint);
});

test("says nothing of a field that comes new", () => {
  const field = "  string summary = 14;";
  expect(complaints("analysis_service.proto", field, `${field}\n  // More.\n  string more = 15;`)).toBe("");
});

describe("the gate", () => {
  /** A repository with the proto of this one, on main, where nothing has been released. */
  function repository() {
    const root = mkdtempSync(join(after, "repository-"));
    for (const part of ["buf.yaml", "proto", "third_party", "tools/buf-breaking.sh"]) {
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
    mkdirSync(join(root, "tools"), { recursive: true });
    write("tools/intended-breaks.txt", "# None.\n");
    git("init", "--quiet", "--initial-branch", "main");
    commit("Begin");
    commit("Go on");
    const file = "proto/chess/analysis/v1/key_service.proto";
    const text = readFileSync(join(root, file), "utf8");
    const rename = (name: string) =>
      write(file, text.replace("repeated Remaining remaining", `repeated Remaining ${name}`));
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
    `Field "5" on message "GetKeyResponse" changed name from "remaining" to "${name}".`;
  const jsonNameOf = (name: string) =>
    `Field "5" with name "${name}" on message "GetKeyResponse" changed option "json_name" from "remaining" to "${name}".`;
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
    write("proto/chess/analysis/v1/key_service.proto", "nonsense");
    expect(gate().status).not.toBe(0);
  });
});
