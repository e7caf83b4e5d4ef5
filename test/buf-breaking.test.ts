import { execFileSync } from "node:child_process";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
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
