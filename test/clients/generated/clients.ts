import { cp, mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildOnce, copySources, sourcesOf } from "../../support/build-once.ts";
import { cacheFolder } from "../../support/cache-folder.ts";
import type { Need } from "../../support/components.ts";
import type { Program } from "../language.ts";
import { runProgram } from "../run-program.ts";

export interface GeneratedClient extends Program {
  readonly needs: readonly Need[];
}

const versions = { openapiGenerator: "7.25.0", oapiCodegen: "v2.8.2" };

const here = fileURLToPath(new URL(".", import.meta.url));
const document = fileURLToPath(new URL("../../../gen/openapi.json", import.meta.url));

// The generators are large. They are installed again only after a change of their version.
const npmPackages = sourcesOf(
  "generator-npm",
  ...["package.json", "package-lock.json"].map((file) => `test/clients/generated/typescript/${file}`),
);
const npmTools = join(npmPackages.folder, "test/clients/generated/typescript");
const pythonPackages = sourcesOf("generator-python", "test/clients/generated/python/requirements.txt");
const openapiGenerator = cacheFolder("generator-openapi-generator", versions.openapiGenerator);
const oapiCodegen = cacheFolder("generator-oapi-codegen", versions.oapiCodegen);

// Each client is compiled together with the program that uses the client.
const generatedFrom = (name: string, ...folders: readonly string[]) =>
  sourcesOf(
    `client-${name}`,
    ...["gen/openapi.json", ...["clients.ts", ...folders].map((path) => `test/clients/generated/${path}`)],
  );
const ofPythonClient = generatedFrom("openapi-python-client", "python");
const ofOpenapiGenerator = generatedFrom("openapi-generator", "go", "java", "python");
const ofOpenapiGeneratorForGo = generatedFrom("openapi-generator-go", "go");
const ofOapiCodegen = generatedFrom("oapi-codegen", "go");

export const pythonPrograms = join(pythonPackages.folder, "bin");
const python = join(pythonPrograms, "python");
const java = join(ofOpenapiGenerator.folder, "java");

export const generatedClients: readonly GeneratedClient[] = [
  {
    name: "openapi-python-client",
    needs: ["python"],
    command: [python, join(here, "python/openapi_python_client.py")],
    cwd: ofPythonClient.folder,
    env: { PYTHONPATH: ofPythonClient.folder },
  },
  {
    name: "openapi-generator for Python",
    needs: ["python", "jdk", "maven"],
    command: [python, join(here, "python/openapi_generator.py")],
    cwd: ofOpenapiGenerator.folder,
    env: { PYTHONPATH: join(ofOpenapiGenerator.folder, "python") },
  },
  {
    name: "openapi-generator for Go",
    needs: ["go", "jdk", "maven"],
    command: [join(ofOpenapiGeneratorForGo.folder, "program")],
    cwd: ofOpenapiGeneratorForGo.folder,
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
    cwd: ofOpenapiGenerator.folder,
  },
  {
    name: "oapi-codegen",
    needs: ["go"],
    command: [join(ofOapiCodegen.folder, "program")],
    cwd: ofOapiCodegen.folder,
  },
];

/** Prepares a folder in which a user has installed openapi-typescript, openapi-fetch and TypeScript. */
export async function useNpmTools(folder: string): Promise<void> {
  await cp(join(npmTools, "package.json"), join(folder, "package.json"));
  await symlink(join(npmTools, "node_modules"), join(folder, "node_modules"));
}

/** Installs the generators. Then generates and compiles every client whose toolchain is installed. */
export async function buildGeneratedClients(missing: readonly Need[]): Promise<void> {
  const has = (...needs: readonly Need[]) => !needs.some((need) => missing.includes(need));
  await Promise.all([
    installFromNpm(),
    has("python") && buildPythonClient(),
    has("jdk", "maven") && buildByOpenapiGenerator(has("go")),
    has("go") && buildByOapiCodegen(),
  ]);
}

const quietly = ["--batch-mode", "--no-transfer-progress", "--quiet"];

function installFromNpm(): Promise<void> {
  return buildOnce(npmPackages.folder, async (folder) => {
    await copySources(npmPackages, folder);
    const cwd = join(folder, "test/clients/generated/typescript");
    await runProgram(["npm", "ci", "--no-audit", "--no-fund"], { cwd });
  });
}

async function buildPythonClient(): Promise<void> {
  await buildOnce(pythonPackages.folder, async (folder) => {
    await runProgram(["python3", "-m", "venv", folder]);
    const requirements = join(here, "python/requirements.txt");
    const install = ["-m", "pip", "install", "--quiet", "--no-deps", "-r", requirements];
    await runProgram([join(folder, "bin/python"), ...install]);
  });
  await buildOnce(ofPythonClient.folder, async (folder) => {
    const generate = ["generate", "--meta", "none", "--fail-on-warning"];
    const program = join(pythonPrograms, "openapi-python-client");
    // openapi-python-client formats its output with ruff, which must be in PATH.
    const env = { PATH: `${pythonPrograms}:${process.env.PATH}` };
    const output = join(folder, "kibitz_client");
    await runProgram([program, ...generate, "--path", document, "--output-path", output], { env });
  });
}

async function buildByOpenapiGenerator(hasGo: boolean): Promise<void> {
  // Maven downloads the generator, because Maven knows the configured registry and verifies checksums.
  await buildOnce(openapiGenerator, async (folder) => {
    const copy = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy";
    const artifact = `-Dartifact=org.openapitools:openapi-generator-cli:${versions.openapiGenerator}`;
    await runProgram(["mvn", ...quietly, copy, artifact, `-DoutputDirectory=${folder}`]);
  });
  await buildOnce(ofOpenapiGenerator.folder, async (folder) => {
    // One start of Java generates all three clients.
    const wanted = {
      python: {},
      java: {},
      // The Go client belongs to the module of the program.
      go: { additionalProperties: { withGoMod: false } },
    };
    const files = Object.entries(wanted).map(async ([generatorName, options]) => {
      const file = join(folder, `${generatorName}.json`);
      const outputDir = join(folder, generatorName);
      await writeFile(file, JSON.stringify({ generatorName, inputSpec: document, outputDir, ...options }));
      return file;
    });
    const jar = join(openapiGenerator, `openapi-generator-cli-${versions.openapiGenerator}.jar`);
    await runProgram(["java", "-jar", jar, "batch", "--fail-fast", ...(await Promise.all(files))]);
    const compile = ["mvn", ...quietly, "-Dmaven.test.skip=true", "package"];
    await runProgram(compile, { cwd: join(folder, "java") });
  });
  if (hasGo) {
    await buildOnce(ofOpenapiGeneratorForGo.folder, async (folder) => {
      await cp(join(ofOpenapiGenerator.folder, "go"), join(folder, "go/openapi"), { recursive: true });
      await buildGo("openapi-generator", folder);
    });
  }
}

async function buildByOapiCodegen(): Promise<void> {
  await buildOnce(oapiCodegen, async (folder) => {
    const program = `github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@${versions.oapiCodegen}`;
    await runProgram(["go", "install", program], { env: { GOBIN: folder } });
  });
  await buildOnce(ofOapiCodegen.folder, async (folder) => {
    await mkdir(join(folder, "go/kibitz"), { recursive: true });
    const options = ["-generate", "types,client", "-package", "kibitz"];
    const output = ["-o", join(folder, "go/kibitz/kibitz.go")];
    await runProgram([join(oapiCodegen, "oapi-codegen"), ...options, ...output, document]);
    await buildGo("oapi-codegen", folder);
  });
}

async function buildGo(name: string, folder: string): Promise<void> {
  const cwd = join(folder, "go");
  for (const part of ["go.mod", "go.sum", name]) {
    await cp(join(here, "go", part), join(cwd, part), { recursive: true });
  }
  await runProgram(["go", "build", "-buildvcs=false", "-o", join(folder, "program"), `./${name}`], { cwd });
}
