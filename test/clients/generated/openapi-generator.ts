import { createHash } from "node:crypto";
import { cp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildOnce, sourcesOf } from "../../support/build-once.ts";
import { cacheFolder } from "../../support/cache-folder.ts";
import type { Need } from "../../support/components.ts";
import type { GeneratedClient } from "../language.ts";
import { runProgram } from "../run-program.ts";
import { linkNpmPackages, npmFolder, python } from "./packages.ts";

/** The versions that must generate working clients, with the SHA-256 of their jar files. */
const jarDigests = {
  "7.16.0": "6999b18cece5b58f5d5b246fef5a43bdf61239491c4f0ed6513214e0f6e8464b",
  "7.25.0": "41ce4f6b07f196676439d710759fa1ced7a08066d06ff1bf314681470289efae",
};

export type Version = keyof typeof jarDigests;
export const versions = Object.keys(jarDigests) as Version[];

interface Target {
  /** The name of the generator, if it is not the name of the target. */
  readonly generator?: string;
  /** The folder of the program that uses the client. */
  readonly program: string;
  readonly needs: readonly Need[];
  readonly options?: object;
  /** Compiles the program and the client. `folder` contains the files of the program, and the client in `client`. */
  compile?(folder: string): Promise<unknown>;
  command(folder: string): readonly string[];
  env?(folder: string): Readonly<Record<string, string>>;
}

const maven = ["mvn", "--batch-mode", "--no-transfer-progress", "--quiet"];
const mavenPackage = [...maven, "-Dmaven.test.skip=true", "package"];
const jars = (folder: string) => ["-cp", `${folder}/target/*:${folder}/target/lib/*`];

const targets = {
  python: {
    program: "python",
    needs: ["python"],
    command: (folder) => [python, join(folder, "openapi_generator.py")],
    env: (folder) => ({ PYTHONPATH: join(folder, "client") }),
  },
  java: {
    program: "java",
    needs: [],
    compile: (folder) => runProgram(mavenPackage, { cwd: join(folder, "client") }),
    command: (folder) => ["java", ...jars(join(folder, "client")), join(folder, "OpenapiGenerator.java")],
  },
  "java-native": {
    generator: "java",
    program: "java-native",
    needs: [],
    options: { library: "native" },
    compile: (folder) => runProgram(mavenPackage, { cwd: join(folder, "client") }),
    command: (folder) => ["java", ...jars(join(folder, "client")), join(folder, "OpenapiGenerator.java")],
  },
  go: {
    program: "go",
    needs: ["go"],
    // The client belongs to the module of the program.
    options: { additionalProperties: { withGoMod: false } },
    compile: (cwd) =>
      runProgram(["go", "build", "-buildvcs=false", "-o", "program", "./openapi-generator"], { cwd }),
    command: (folder) => [join(folder, "program")],
  },
  "typescript-fetch": typescript("typescript/openapi-generator-fetch"),
  "typescript-axios": typescript("typescript/openapi-generator-axios"),
  kotlin: {
    program: "kotlin",
    needs: [],
    compile: (cwd) => runProgram(mavenPackage, { cwd }),
    command: (folder) => ["java", ...jars(folder), "MainKt"],
  },
  rust: {
    program: "rust",
    needs: ["rust"],
    async compile(cwd) {
      await runProgram(["cargo", "build", "--quiet"], { cwd, env: { CARGO_PROFILE_DEV_DEBUG: "0" } });
      await rename(join(cwd, "target/debug/program"), join(cwd, "program"));
      await rm(join(cwd, "target"), { recursive: true });
    },
    command: (folder) => [join(folder, "program")],
  },
} satisfies Readonly<Record<string, Target>>;

export type TargetName = keyof typeof targets;
export const targetNames = Object.keys(targets) as TargetName[];

/** Type-checks and compiles the client as most programs do: Node cannot run its imports without file extensions. */
function typescript(program: string): Target {
  const options = "--strict --skipLibCheck --target es2024 --module nodenext --types node --outDir dist";
  return {
    program,
    needs: [],
    async compile(cwd) {
      await linkNpmPackages(cwd);
      const compiler = join(npmFolder, "node_modules/typescript/bin/tsc");
      await runProgram([process.execPath, compiler, ...options.split(" "), "main.ts"], { cwd });
    },
    command: (folder) => [process.execPath, join(folder, "dist/main.js")],
  };
}

const here = fileURLToPath(new URL(".", import.meta.url));
const document = fileURLToPath(new URL("../../../gen/openapi.json", import.meta.url));
const sources = ["gen/openapi.json", "test/clients/generated/openapi-generator.ts"];

const buildFolder = (version: Version, name: TargetName) =>
  sourcesOf(
    `client-openapi-generator-${version}-${name}`,
    ...sources,
    `test/clients/generated/${targets[name].program}`,
  ).folder;

export function clientFrom(version: Version, name: TargetName): GeneratedClient {
  const { needs, command, env }: Target = targets[name];
  const folder = buildFolder(version, name);
  return {
    name: `openapi-generator ${version} for ${name}`,
    needs: ["jdk", "maven", ...needs],
    command: command(folder),
    cwd: folder,
    ...(env && { env: env(folder) }),
  };
}

/** Generates the clients of all languages, and compiles the clients of these languages. */
export async function buildClients(version: Version, names: readonly TargetName[]): Promise<void> {
  const clients = await generate(version);
  const builds = names.map((name) => {
    const { program, compile }: Target = targets[name];
    return buildOnce(buildFolder(version, name), async (folder) => {
      await cp(join(here, program), folder, { recursive: true });
      await cp(join(clients, name), join(folder, "client"), { recursive: true });
      await compile?.(folder);
    });
  });
  await Promise.all(builds);
}

/** Returns the folder that contains a folder for each target. */
async function generate(version: Version): Promise<string> {
  const jar = await download(version);
  const { folder: clients } = sourcesOf(`generated-by-openapi-generator-${version}`, ...sources);
  await buildOnce(clients, async (folder) => {
    // One start of Java generates all clients.
    const files = Object.entries(targets).map(async ([name, { generator, options }]: [string, Target]) => {
      const file = join(folder, `${name}.json`);
      const output = { generatorName: generator ?? name, inputSpec: document, outputDir: join(folder, name) };
      await writeFile(file, JSON.stringify({ ...output, ...options }));
      return file;
    });
    await runProgram(["java", "-jar", jar, "batch", "--fail-fast", ...(await Promise.all(files))]);
  });
  return clients;
}

async function download(version: Version): Promise<string> {
  const file = `openapi-generator-cli-${version}.jar`;
  const jars = cacheFolder("generator-openapi-generator", version);
  await buildOnce(jars, async (folder) => {
    // Maven downloads the generator, because Maven knows the configured registry.
    const copy = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy";
    const artifact = `-Dartifact=org.openapitools:openapi-generator-cli:${version}`;
    await runProgram([...maven, copy, artifact, `-DoutputDirectory=${folder}`]);
    const digest = createHash("sha256")
      .update(await readFile(join(folder, file)))
      .digest("hex");
    if (digest !== jarDigests[version]) {
      throw new Error(`${file} has the SHA-256 ${digest} instead of ${jarDigests[version]}`);
    }
  });
  return join(jars, file);
}
