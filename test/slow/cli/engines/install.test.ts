import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { gzipSync } from "node:zlib";
import { beforeEach, describe, expect, test } from "vitest";
import type { CommandInput } from "../../../../src/cli/command.ts";
import { installEngine } from "../../../../src/cli/engines/install.ts";
import { moveInto } from "../../../../src/cli/engines/install-folder.ts";
import type { OfficialBuild } from "../../../../src/cli/engines/official-release.ts";
import type { Host } from "../../../../src/cli/host.ts";
import { identityFromName } from "../../../../src/engine/profiles.ts";
import { loadConfig } from "../../../../src/wiring/config.ts";
import { tarGzOf } from "../../../cli/engines/tar-archive.ts";
import { createFolder } from "../../../engine/write-script.ts";
import { nativeStockfish } from "../../../support/native-stockfish.ts";
import { describeWith } from "../../../support/needs.ts";
import { patienceMs } from "../../../support/patience.ts";
import { type Respond, redirectTo, send, useReleaseServer } from "./release-server.ts";

const server = useReleaseServer();
const member = "stockfish/stockfish-test";
const digestOf = (data: Buffer | string) => createHash("sha256").update(data).digest("hex");

interface Options {
  readonly values?: CommandInput["values"];
  readonly stdin?: Readable;
  readonly signal?: AbortSignal;
  readonly engine?: { readonly id: string; readonly name: string };
  readonly build?: Partial<OfficialBuild>;
  readonly env?: Readonly<Record<string, string>>;
  readonly folder?: string;
  readonly silenceMaxMs?: number;
  readonly maxBytes?: number;
  /** Called with each line on standard error. */
  readonly onSaid?: (text: string) => void;
}

/** A small archive, which is not an engine. */
const small = tarGzOf({ name: member, content: "echo hello" });

async function install({ values = {}, onSaid = () => {}, ...options }: Options = {}) {
  const folder = options.folder ?? join(createFolder(), "kibitz", "engines");
  const said: string[] = [];
  const stderr = {
    fd: 2,
    once: () => {},
    write(text: string) {
      said.push(text);
      onSaid(text);
    },
  };
  const host = { stdin: options.stdin ?? Readable.from([]), stderr, stdout: stderr } as unknown as Host;
  const signal = options.signal ?? new AbortController().signal;
  const env = { KIBITZ_DATA_DIR: join(folder, "../data"), KIBITZ_NATIVE_ENGINES: "none", ...options.env };
  const config = loadConfig(env);
  const build = { archive: "engine.tar.gz", member, sha256: digestOf(small), ...options.build };
  const release = server.release(options.engine ?? { id: "stockfish-99", name: "Stockfish 99" }, build);
  const { silenceMaxMs, maxBytes } = options;
  const outcome = await installEngine({ values, positionals: [], signal, host }, config, {
    release,
    folder: { path: folder, isCommon: false },
    silenceMaxMs,
    maxBytes,
  }).then(
    (installed) => ({ installed, error: undefined }),
    (error: Error) => ({ installed: undefined, error: error.message }),
  );
  return { ...outcome, said: said.join(""), folder, left: existsSync(folder) ? readdirSync(folder) : [] };
}

beforeEach(() => {
  server.requested.length = 0;
  for (const path of Object.keys(server.pages)) {
    delete server.pages[path];
  }
  server.pages["/download/engine.tar.gz"] = (response) =>
    redirectTo(`${server.assets()}/asset?signature=secret`)(response);
});

describeWith("native")("a release with the installed Stockfish", () => {
  const file = nativeStockfish() ?? "";
  const uci = () => execFileSync(file, { input: "uci\nquit\n", encoding: "utf8" });
  const name = file && (/^id name (.*)$/m.exec(uci())?.[1] ?? "");
  const engine = { id: identityFromName(name)?.id ?? "", name };
  const content = () => readFileSync(file);
  const archive = file
    ? tarGzOf(
        { name: "stockfish/src/main.cpp", content: "int main();" },
        { name: member, content: content() },
      )
    : small;
  const build = { sha256: digestOf(archive) };

  test("the official build is loaded after a redirect to another host, tried, and installed as one file", async () => {
    server.pages["/asset"] = send(archive);
    const { installed, folder, left, said, error } = await install({ engine, build });
    expect(error).toBeUndefined();
    const path = join(folder, engine.id);
    expect(installed).toEqual({
      id: engine.id,
      version: identityFromName(name)?.version,
      path,
      sha256: digestOf(content()),
    });
    expect(left).toEqual([engine.id]);
    expect(readFileSync(path).equals(content())).toBe(true);
    expect(statSync(path).mode & 0o777).toBe(0o755);
    // Lines without control characters, because the output is not a terminal.
    expect(said).toMatch(/^Loading https:.+\n([\d.]+ of \d+ MB\n){4}The digest is right/);
    expect(said).toMatch(/Only a Kibitz of the user \S+ finds it/);
    expect(said).toContain("KIBITZ_NATIVE_ENGINES is set");

    server.requested.length = 0;
    const again = await install({ engine, build, folder });
    expect(again.installed).toEqual(installed);
    expect(server.requested).toEqual([]);
  });

  test.each([
    ["a damaged engine", (path: string) => writeFileSync(path, "damaged", { mode: 0o755 })],
    // The other end of the pipe never comes, so that even an interruption could not end the installation.
    ["a pipe", (path: string) => execFileSync("mkfifo", [path])],
  ])("%s that is already installed is replaced", async (_, create) => {
    server.pages["/asset"] = send(archive);
    const folder = createFolder();
    create(join(folder, engine.id));
    const { installed, left } = await install({ engine, build, folder });
    expect(installed?.sha256).toBe(digestOf(content()));
    expect(left).toEqual([engine.id]);
  });

  test("an engine with another name than the release is not installed", async () => {
    server.pages["/asset"] = send(archive);
    const { error, left } = await install({ build });
    expect(error).toContain(`calls itself ${name}, and not Stockfish 99`);
    expect(left).toEqual([]);
  });

  test("a file that the user names is installed without the network, and an engine on the PATH with its id is named", async () => {
    const values = { from: file, sha256: `SHA256:${digestOf(content()).toUpperCase()}` };
    const dataHome = createFolder();
    const folder = join(dataHome, "kibitz", "engines");
    const env = { KIBITZ_NATIVE_ENGINES: "", XDG_DATA_HOME: dataHome, PATH: "" };
    const { installed, said } = await install({ values, env, folder });
    expect(installed?.id).toBe(engine.id);
    expect(said).toContain("has the same id and comes first");
    expect(server.requested).toEqual([]);
  });

  test("an address that the user names may use http and other hosts", async () => {
    server.pages["/asset"] = send(archive);
    const values = { from: `${server.plain()}/asset`, sha256: build.sha256 };
    const { installed, error } = await install({ values });
    expect(error).toBeUndefined();
    expect(installed?.id).toBe(engine.id);
  });

  test.each(["Loading", "The digest is right"])(
    "an interruption after %j leaves nothing of the engine",
    async (moment) => {
      server.pages["/asset"] = send(archive);
      const owner = new AbortController();
      const onSaid = (text: string) => text.startsWith(moment) && owner.abort(new Error("interrupted"));
      const { error, left } = await install({ engine, build, signal: owner.signal, onSaid });
      expect(error).toBe("interrupted");
      expect(left).toEqual([]);
    },
  );
});

describe("a build whose digest Kibitz does not know", () => {
  const document = (digest: string | null) =>
    JSON.stringify({ assets: [{ name: "other" }, { name: "engine.tar.gz", digest }] });
  const unknown = { build: { sha256: undefined } } as unknown as Options;

  beforeEach(() => {
    server.pages["/document"] = send(document(`sha256:${digestOf(small)}`));
    server.pages["/asset"] = send(small);
  });

  test.each<[what: string, options: Options]>([
    ["the answer is y", { stdin: Readable.from(["y\n"]) }],
    ["--yes is given", { values: { yes: true } }],
  ])("the digest of the release is shown, and accepted if %s", async (_, options) => {
    const { said, error } = await install({ ...unknown, ...options });
    expect(said).toContain(digestOf(small));
    expect(said).toContain("comes from the same place as the file");
    // The file is loaded, but is not an engine.
    expect(error).toContain("the engine does not run here");
  });

  test.each(["n\n", "\n", "maybe\n"])("nothing is loaded if the answer is %j", async (line) => {
    const { error } = await install({ ...unknown, stdin: Readable.from([line]) });
    expect(error).toContain("--yes accepts the digest");
    expect(server.requested).toEqual(["/document"]);
  });

  test("nothing is loaded if the input ends before an answer", async () => {
    const { error } = await install({ ...unknown, stdin: Readable.from([]) });
    expect(error).toContain("--yes accepts the digest");
    expect(server.requested).toEqual(["/document"]);
  });

  test("an interruption ends the question", async () => {
    const owner = new AbortController();
    const onSaid = (text: string) => text.startsWith("Install it?") && owner.abort(new Error("interrupted"));
    const { left } = await install({ ...unknown, stdin: new PassThrough(), signal: owner.signal, onSaid });
    expect(left).toEqual([]);
    expect(server.requested).toEqual(["/document"]);
  });

  test.each<[what: string, page: Respond, message: RegExp]>([
    ["names no digest", send(document(null)), /names no digest of engine\.tar\.gz.+--from FILE --sha256/],
    ["names another form of digest", send(document("md5:0")), /names no digest/],
    ["is not JSON", send("<html>"), /could not be loaded \(.*JSON.+--from FILE/],
    ["is too large", send("x".repeat(6e6)), /is larger than 5 MB/],
    ["never comes", () => {}, /sent nothing for 0\.3 s; try again later/],
    [
      "breaks off",
      (response) => half(response) && setTimeout(() => response.destroy(), 50),
      /could not be loaded \(.+--from FILE/,
    ],
    [
      "is refused by a rate limit",
      (response) =>
        send("", 403, { "x-ratelimit-reset": String(Math.ceil(Date.now() / 1000) + 600) })(response),
      /answers 403: the server limits .+ try again in 1[01] min/,
    ],
  ])("nothing is loaded if the document of the release %s", async (_, page, message) => {
    server.pages["/document"] = page;
    const { error } = await install({ ...unknown, values: { yes: true }, silenceMaxMs: 300 });
    expect(error).toMatch(message);
    expect(server.requested).toEqual(["/document"]);
  });
});

/** Declares 10,000 bytes, and sends half of them. */
const half = (response: Parameters<Respond>[0]) =>
  response.writeHead(200, { "content-length": "10000" }).write(Buffer.alloc(5000));

test.each<[what: string, page: () => Respond, message: RegExp, options?: Options]>([
  ["is not there", () => send("", 404), /answers 404: the file is not there/],
  ["is forbidden", () => send("", 403), /answers 403: the server refuses this address/],
  ["is rate-limited", () => send("", 429, { "retry-after": "120" }), /answers 429.+try again in 2 min/],
  ["fails", () => send("", 503), /answers 503: try again later/],
  ["is only a part", () => send("x", 206), /answers 206/],
  ["redirects to http", () => redirectTo(`${server.plain()}/file`), /leads to http:.+only these hosts/],
  ["redirects to another host", () => redirectTo("https://example.com/"), /leads to https:\/\/example\.com/],
  ["redirects to another port", () => redirectTo("https://localhost:1/"), /leads to https:\/\/localhost:1/],
  [
    "redirects to a file",
    () => redirectTo("file:///etc/passwd"),
    /leads to file:\/\/\/etc\/passwd.+only these/,
  ],
  ["redirects to itself", () => redirectTo("/asset"), /redirects more than 5 times/],
  ["has a redirect that is no address", () => redirectTo("https://["), /is not an address/],
  ["has another digest", () => send("other"), /has the SHA-256 digest [0-9a-f]{64}, and not.+Try again/],
  [
    "breaks off",
    () => (response) => half(response) && setTimeout(() => response.destroy(), 50),
    /could not be loaded \(.+Try again/,
  ],
  ["stops in the middle", () => half, /sent nothing for 0\.3 s/, { silenceMaxMs: 300 }],
  ["never begins", () => () => {}, /sent nothing for 0\.3 s/, { silenceMaxMs: 300 }],
  ["says that it is too large", () => half, /is larger than 0\.009 MB/, { maxBytes: 9000 }],
  [
    "is larger than it says",
    () => (response) => response.writeHead(200).end(Buffer.alloc(20_000)),
    /is larger than 0\.009 MB/,
    { maxBytes: 9000 },
  ],
])("nothing is installed if the official file %s", async (_, page, message, options = {}) => {
  server.pages["/asset"] = page();
  const { error, left } = await install(options);
  expect(error).toMatch(message);
  // The query of an address can contain a secret.
  expect(error).not.toContain("secret");
  expect(left).toEqual([]);
});

test("without a connection, the error says how to install a file that another machine has loaded", async () => {
  server.pages["/download/engine.tar.gz"] = (response) => response.destroy();
  const { error, left } = await install();
  expect(error).toMatch(/could not be loaded.+use --from FILE with its --sha256.+HTTPS_PROXY/);
  expect(left).toEqual([]);
});

/** The head of an ELF program for the 64-bit processor of IBM, on which no test runs. */
const foreign = Buffer.alloc(4096);
foreign.write("\x7fELF\x02\x01\x01", 0, "latin1");
foreign.writeUInt16LE(2, 16);
foreign.writeUInt16LE(21, 18);

test.each([
  ["is for another processor", foreign, /does not run here.+built for another processor \(21\)/],
  ["is no engine", "#!/bin/sh\nexit 1\n", /does not run here.+closed its pipe/],
  ["is empty", "", /does not run here.+it is not a program for Linux/],
])("an engine that %s is not installed, and the error says why", async (_, content, message) => {
  const file = join(createFolder(), "file");
  writeFileSync(file, content);
  const { error, left } = await install({ values: { from: file, sha256: digestOf(content) } });
  expect(error).toMatch(message);
  expect(error).toContain("Choose a build for this system and processor");
  expect(left).toEqual([]);
});

test("an engine that ignores signals and never answers is not installed", {
  timeout: 4 * patienceMs,
}, async () => {
  const content = '#!/bin/sh\ntrap "" TERM INT HUP\nwhile :; do sleep 1; done\n';
  const file = join(createFolder(), "file");
  writeFileSync(file, content);
  const values = { from: file, sha256: digestOf(content) };
  const { error, left } = await install({ values, folder: createFolder() });
  expect(error).toMatch(/does not run here.+it was ended by SIGKILL/);
  expect(left).toEqual([]);
});

test("an archive that cannot be unpacked is not installed", async () => {
  const damaged = gzipSync(Buffer.alloc(2048, "x"));
  server.pages["/asset"] = send(damaged);
  const { error, left } = await install({ build: { sha256: digestOf(damaged) } });
  expect(error).toContain("cannot be unpacked: it contains no tar archive");
  expect(left).toEqual([]);
});

test.each([
  ["is a folder", (path: string) => mkdirSync(path), /is not a regular file/],
  // The other end of the pipe never comes, so that even an interruption could not end the installation.
  ["is a pipe", (path: string) => execFileSync("mkfifo", [path]), /is not a regular file/],
  ["does not exist", () => {}, /cannot be read \(ENOENT\)/],
])("a file that %s is not loaded, and the error names the file", async (_, create, message) => {
  const file = join(createFolder(), "file");
  create(file);
  const { error, left } = await install({ values: { from: file, sha256: digestOf("") } });
  expect(error).toMatch(message);
  expect(error).toContain(file);
  expect(left).toEqual([]);
});

test("a folder with the name of the engine is not replaced, and the error says what to do", async () => {
  const folder = createFolder();
  mkdirSync(join(folder, "stockfish-99"));
  await expect(
    moveInto({ path: folder, isCommon: false }, join(folder, "file"), "stockfish-99"),
  ).rejects.toThrow(`${join(folder, "stockfish-99")} is a folder; move it away`);
});

test("the password and the query of an address are not shown", async () => {
  const values = { from: `http://user:secret@${server.plain().slice(7)}/file?secret`, sha256: digestOf("") };
  const { error, said } = await install({ values });
  expect(error).toMatch(/the address has a user or a password, which Kibitz does not send/);
  expect(`${said}${error}`).not.toContain("secret");
  expect(server.requested).toEqual([]);
});

test("a server that sends the file in a compressed form is refused, because the digest would differ", async () => {
  server.pages["/asset"] = send(small, 200, { "content-encoding": "x-gzip" });
  const values = { from: `${server.plain()}/asset`, sha256: digestOf(small) };
  const { error, left } = await install({ values });
  expect(error).toMatch(/is sent with the content encoding x-gzip.+use --from FILE with its --sha256/);
  expect(left).toEqual([]);
});

test.each([
  [{ from: "file" }, "--from needs --sha256"],
  [{ from: "file", yes: true }, "--from needs --sha256"],
  [{ from: "", sha256: digestOf("") }, "--from names no file"],
  [{ from: "file", sha256: "abc" }, "must have 64 hexadecimal digits"],
  [{ from: "file:///%", sha256: digestOf("") }, "--from is file:///%, but must be a file"],
  [{ from: "file://host/file", sha256: digestOf("") }, "--from is file://host/file, but must be a file"],
  [{ from: "ftp://host/file", sha256: digestOf("") }, "must be a file, or an address with https or http"],
])("the arguments %o are refused", async (values, message) => {
  const { error, left } = await install({ values });
  expect(error).toContain(message);
  expect(left).toEqual([]);
});

test("an address that the user names may not redirect to a file of this machine", async () => {
  server.pages["/asset"] = redirectTo("file:///etc/passwd");
  const { error, left } = await install({
    values: { from: `${server.plain()}/asset`, sha256: digestOf("") },
  });
  expect(error).toContain("leads to file:///etc/passwd, but only https and http can be loaded");
  expect(left).toEqual([]);
});

test("a folder whose parent is a file is not created, and the error says what to do", async () => {
  const file = join(createFolder(), "file");
  writeFileSync(file, "");
  const { error } = await install({ folder: join(file, "engines") });
  expect(error).toMatch(/ENOTDIR.+XDG_DATA_HOME/);
});

test("a digest that the user names is used instead of the known one", async () => {
  server.pages["/asset"] = send(small);
  const { error } = await install({ values: { sha256: digestOf("other") } });
  expect(error).toContain(`and not ${digestOf("other")}`);
});

test("a folder that other users can write to is not used", async () => {
  const folder = createFolder();
  chmodSync(folder, 0o777);
  const { error } = await install({ folder });
  expect(error).toContain("is not a folder that only this user can write to");
});

test("the next installation deletes what a killed installation has left", async () => {
  server.pages["/asset"] = send("other");
  const folder = createFolder();
  const { pid } = process;
  // No process has the largest number.
  for (const name of [".unfinished-4194304-abcdef", `.unfinished-${pid}-abcdef`, "stockfish-98"]) {
    mkdirSync(join(folder, name));
  }
  const { left } = await install({ folder });
  expect(left).toEqual([`.unfinished-${pid}-abcdef`, "stockfish-98"]);
});
