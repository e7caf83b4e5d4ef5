import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { cp, mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Need } from "../../support/components.ts";
import { buildIfStale } from "../build-if-stale.ts";
import type { Program } from "../language.ts";
import { cacheOf } from "../places.ts";
import { runProgram } from "../run-program.ts";

/** A program that calls the service with a client generated from the OpenAPI document. */
export interface GeneratedClient extends Program {
  readonly needs: readonly Need[];
}

/** Of the generators that no list of packages names. */
const versions = { openapiGenerator: "7.25.0", oapiCodegen: "v2.8.2" };

const here = fileURLToPath(new URL(".", import.meta.url));
const document = fileURLToPath(new URL("../../../gen/openapi.json", import.meta.url));
const built = cacheOf("generated");

/** The generators stay when `node_modules` goes: they are large, and change only with their version. */
const tools = join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "kibitz");
const toolsFor = (file: string) => {
  const digest = createHash("sha256").update(readFileSync(join(here, file)));
  return join(tools, `${file.replace("/", "-")}-${digest.digest("hex").slice(0, 12)}`);
};
const npmTools = toolsFor("typescript/package-lock.json");
const pythonTools = toolsFor("python/requirements.txt");
const openapiGenerator = join(tools, `openapi-generator-cli-${versions.openapiGenerator}`);
const oapiCodegen = join(tools, `oapi-codegen@${versions.oapiCodegen}`);

/** The programs of the virtual environment, with openapi-python-client among them. */
export const pythonPrograms = join(pythonTools, "bin");
const python = join(pythonPrograms, "python");
const goPrograms = join(built, "go/bin");
const java = join(built, "openapi-generator/java");

export const generatedClients: readonly GeneratedClient[] = [
  {
    name: "openapi-python-client",
    needs: ["python"],
    command: [python, join(here, "python/openapi_python_client.py")],
    cwd: built,
    env: { PYTHONPATH: built },
  },
  {
    name: "openapi-generator for Python",
    needs: ["python", "jdk", "maven"],
    command: [python, join(here, "python/openapi_generator.py")],
    cwd: built,
    env: { PYTHONPATH: join(built, "openapi-generator/python") },
  },
  {
    name: "openapi-generator for Go",
    needs: ["go", "jdk", "maven"],
    command: [join(goPrograms, "openapi-generator")],
    cwd: built,
  },
  {
    name: "openapi-generator for Java",
    needs: ["jdk", "maven"],
    command: [
      "java",
      "-cp",
      `${java}/target/*:${java}/target/lib/*`,
      join(here, "java/OpenapiGenerator.java"),
    ],
    cwd: built,
  },
  {
    name: "oapi-codegen",
    needs: ["go"],
    command: [join(goPrograms, "oapi-codegen")],
    cwd: built,
  },
];

/** Makes a folder one in which a user has installed openapi-typescript, openapi-fetch and TypeScript. */
export async function useNpmTools(folder: string): Promise<void> {
  await cp(join(npmTools, "package.json"), join(folder, "package.json"));
  await symlink(join(npmTools, "node_modules"), join(folder, "node_modules"));
}

/** Installs the generators, and generates and compiles every client whose toolchain is here; quick if nothing changed. */
export async function buildGeneratedClients(missing: readonly Need[]): Promise<void> {
  const has = (...needs: readonly Need[]) => !needs.some((need) => missing.includes(need));
  const hasJava = has("jdk", "maven");
  await Promise.all([
    installOnce(npmTools, installFromNpm),
    has("python") && installOnce(pythonTools, installPython),
    hasJava && installOnce(openapiGenerator, installOpenapiGenerator),
    has("go") && installOnce(oapiCodegen, installOapiCodegen),
  ]);
  await buildIfStale({
    // A toolchain that is installed later has a stamp of its own.
    stamp: join(built, `built-without-${missing.join("-")}`),
    sources: [document, join(here, "{clients.ts,*/**}")],
    products: [],
    async build() {
      await rm(built, { recursive: true, force: true });
      await cp(join(here, "go"), join(built, "go"), { recursive: true });
      await Promise.all([
        has("python") && generateWithOpenapiPythonClient(),
        hasJava && generateWithOpenapiGenerator(),
        has("go") && generateWithOapiCodegen(),
      ]);
      await Promise.all([
        hasJava && runProgram(["mvn", ...quietly, "-Dmaven.test.skip=true", "package"], { cwd: java }),
        has("go") && buildGo("./oapi-codegen", ...(hasJava ? ["./openapi-generator"] : [])),
      ]);
    },
  });
}

const quietly = ["--batch-mode", "--no-transfer-progress", "--quiet"];

/** An installation that was interrupted begins anew. */
async function installOnce(folder: string, install: () => Promise<unknown>): Promise<void> {
  await buildIfStale({
    stamp: join(folder, "installed"),
    sources: [],
    products: [],
    async build() {
      await rm(folder, { recursive: true, force: true });
      await mkdir(folder, { recursive: true });
      await install();
    },
  });
}

async function installFromNpm(): Promise<void> {
  await cp(join(here, "typescript"), npmTools, { recursive: true });
  await runProgram(["npm", "ci", "--no-audit", "--no-fund"], { cwd: npmTools });
}

async function installPython(): Promise<void> {
  await runProgram(["python3", "-m", "venv", pythonTools]);
  const requirements = join(here, "python/requirements.txt");
  await runProgram([python, "-m", "pip", "install", "--quiet", "--no-deps", "-r", requirements]);
}

/** By Maven, as the dependencies of its clients come: it knows which registry to ask, and checks what it gets. */
async function installOpenapiGenerator(): Promise<void> {
  const copy = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy";
  const artifact = `-Dartifact=org.openapitools:openapi-generator-cli:${versions.openapiGenerator}`;
  await runProgram(["mvn", ...quietly, copy, artifact, `-DoutputDirectory=${openapiGenerator}`]);
}

async function installOapiCodegen(): Promise<void> {
  const program = `github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@${versions.oapiCodegen}`;
  await runProgram(["go", "install", program], { env: { GOBIN: oapiCodegen } });
}

async function generateWithOpenapiPythonClient(): Promise<void> {
  const folder = join(built, "kibitz_client");
  const generate = ["generate", "--meta", "none", "--fail-on-warning"];
  const program = join(pythonPrograms, "openapi-python-client");
  // It formats what it has written with ruff, which it looks for on the path.
  const env = { PATH: `${pythonPrograms}:${process.env.PATH}` };
  await runProgram([program, ...generate, "--path", document, "--output-path", folder], { env });
}

/** Its three clients, in one start of Java. */
async function generateWithOpenapiGenerator(): Promise<void> {
  const wanted = {
    python: { outputDir: join(built, "openapi-generator/python") },
    java: { outputDir: java },
    // The program and both clients in Go are one module.
    go: { outputDir: join(built, "go/openapi"), additionalProperties: { withGoMod: false } },
  };
  const files = Object.entries(wanted).map(async ([generatorName, options]) => {
    const file = join(built, `${generatorName}.json`);
    await writeFile(file, JSON.stringify({ generatorName, inputSpec: document, ...options }));
    return file;
  });
  const jar = join(openapiGenerator, `openapi-generator-cli-${versions.openapiGenerator}.jar`);
  await runProgram(["java", "-jar", jar, "batch", "--fail-fast", ...(await Promise.all(files))]);
}

async function generateWithOapiCodegen(): Promise<void> {
  const folder = join(built, "go/kibitz");
  await mkdir(folder);
  const options = ["-generate", "types,client", "-package", "kibitz", "-o", join(folder, "kibitz.go")];
  await runProgram([join(oapiCodegen, "oapi-codegen"), ...options, document]);
}

async function buildGo(...programs: readonly string[]): Promise<void> {
  await mkdir(goPrograms);
  await runProgram(["go", "build", "-o", `${goPrograms}/`, ...programs], { cwd: join(built, "go") });
}
