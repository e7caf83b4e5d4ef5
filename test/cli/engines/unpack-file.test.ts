import { randomBytes } from "node:crypto";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { unpackFile } from "../../../src/cli/engines/unpack-file.ts";
import { createFolder } from "../../engine/write-script.ts";
import { tarGzOf, tarOf } from "./tar-archive.ts";

const signal = new AbortController().signal;
const member = "stockfish/stockfish-linux";
const engine = { name: member, content: randomBytes(70_001) };
const source = { name: "stockfish/src/main.cpp", content: "int main();", mode: 0o644 };

async function unpack(
  archive: Buffer,
  name: string | undefined = member,
  maxBytes?: number,
): Promise<Buffer> {
  const folder = createFolder();
  writeFileSync(join(folder, "archive"), archive);
  const target = join(folder, "engine");
  await unpackFile(join(folder, "archive"), name, target, signal, maxBytes);
  expect(readdirSync(folder)).toEqual(["archive", "engine"]);
  return readFileSync(target);
}

test.each([
  ["a compressed archive", tarGzOf(source, engine, source)],
  ["an archive that is not compressed", tarOf(source, engine)],
  ["an archive whose names begin with a dot", tarGzOf({ ...engine, name: `./${member}` })],
])("exactly one file is taken out of %s", async (_, archive) => {
  expect(await unpack(archive)).toEqual(engine.content);
});

test("the only executable file whose name begins with stockfish is taken if no name is given", async () => {
  const text = { name: "stockfish/stockfish.txt", content: "text", mode: 0o644 };
  const link = { name: "stockfish-link", type: "2", link: "/etc/passwd" };
  const directory = { name: "stockfish/", type: "\0" };
  const folder = createFolder();
  const target = join(folder, "engine");
  writeFileSync(join(folder, "archive"), tarGzOf(directory, source, text, link, engine));
  await unpackFile(join(folder, "archive"), undefined, target, signal);
  expect(readFileSync(target)).toEqual(engine.content);
});

test.each<[what: string, archive: Buffer, name: string | undefined, message: RegExp]>([
  ["does not contain the file", tarGzOf(source), member, /does not contain stockfish\/stockfish-linux/],
  [
    "has a symbolic link instead of the file",
    tarGzOf({ name: member, type: "2", link: "/etc/passwd" }),
    member,
    /does not contain/,
  ],
  [
    "has a hard link instead of the file",
    tarGzOf({ name: member, type: "1", link: "a" }),
    member,
    /does not contain/,
  ],
  ["has a folder instead of the file", tarGzOf({ name: member, type: "5" }), member, /does not contain/],
  ["has the file twice", tarGzOf(engine, engine), member, /more than once/],
  [
    "has the file only under a longer path",
    tarGzOf({ ...engine, name: `../${member}` }),
    member,
    /does not contain/,
  ],
  ["ends within the compressed data", tarGzOf(engine).subarray(0, 5000), member, /unexpected end of file/],
  ["ends within the file", tarOf(engine).subarray(0, 5000), member, /ends too early/],
  ["has no tar archive inside", gzipSync(Buffer.alloc(2048, "x")), member, /contains no tar archive/],
  [
    "is damaged after the first file",
    gzipSync(Buffer.concat([tarOf(source).subarray(0, 1024), Buffer.alloc(512, "x")])),
    member,
    /the archive is damaged/,
  ],
  ["is a zip archive", Buffer.concat([Buffer.from("PK\x03\x04"), Buffer.alloc(1000)]), member, /zip archive/],
  ["is no archive", Buffer.alloc(2000, "x"), member, /not an archive/],
])("nothing is taken out of an archive that %s", async (_, archive, name, message) => {
  await expect(unpack(archive, name)).rejects.toThrow(message);
});

test("an archive that is too large when it is unpacked is not unpacked further", async () => {
  const archive = tarGzOf({ name: "zeros", content: Buffer.alloc(3e6) }, engine);
  await expect(unpack(archive, member, 2e6)).rejects.toThrow("it has more than 2 MB when it is unpacked");
});

test("a file that is not an archive is the engine itself if no name is given", async () => {
  const folder = createFolder();
  writeFileSync(join(folder, "archive"), engine.content);
  await unpackFile(join(folder, "archive"), undefined, join(folder, "engine"), signal);
  expect(readFileSync(join(folder, "engine"))).toEqual(engine.content);
});

test("an interrupted unpacking rejects with the reason of the abort", async () => {
  const folder = createFolder();
  writeFileSync(join(folder, "archive"), tarGzOf(engine));
  const target = join(folder, "engine");
  const aborted = AbortSignal.abort(new Error("interrupted"));
  await expect(unpackFile(join(folder, "archive"), member, target, aborted)).rejects.toThrow(/abort/i);
  expect(existsSync(target) ? readFileSync(target) : Buffer.of()).not.toEqual(engine.content);
});
