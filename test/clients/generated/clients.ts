import { cp, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildOnce, sourcesOf } from "../../support/build-once.ts";
import { cacheFolder } from "../../support/cache-folder.ts";
import type { Need } from "../../support/components.ts";
import type { GeneratedClient } from "../language.ts";
import { runProgram } from "../run-program.ts";
import { buildClients, clientFrom, type TargetName, type Version } from "./openapi-generator.ts";
import { installNpmPackages, installPythonPackages, python, pythonPrograms } from "./packages.ts";

export const oapiCodegenVersion = "v2.8.2";

/** The clients of openapi-generator that `generated.nightly.test.ts` tests beside the clients of other generators. */
export const quickVersion: Version = "7.25.0";
export const quickTargets: readonly TargetName[] = ["python", "java", "go", "typescript-fetch"];

const here = fileURLToPath(new URL(".", import.meta.url));
const document = fileURLToPath(new URL("../../../gen/openapi.json", import.meta.url));

const oapiCodegen = cacheFolder("generator-oapi-codegen", oapiCodegenVersion);
const generatedFrom = (name: string, folder: string) =>
  sourcesOf(
    `client-${name}`,
    ...["gen/openapi.json", ...["clients.ts", folder].map((path) => `test/clients/generated/${path}`)],
  );
const ofPythonClient = generatedFrom("openapi-python-client", "python");
const ofOapiCodegen = generatedFrom("oapi-codegen", "go");

export const pythonClient: GeneratedClient = {
  name: "openapi-python-client",
  needs: ["python"],
  command: [python, join(here, "python/openapi_python_client.py")],
  cwd: ofPythonClient.folder,
  env: { PYTHONPATH: ofPythonClient.folder },
};

export const generatedClients: readonly GeneratedClient[] = [
  pythonClient,
  {
    name: "oapi-codegen",
    needs: ["go"],
    command: [join(ofOapiCodegen.folder, "program")],
    cwd: ofOapiCodegen.folder,
  },
  ...quickTargets.map((name) => clientFrom(quickVersion, name)),
];

/** Installs the generators. Then generates and compiles every client whose toolchain is installed. */
export async function buildGeneratedClients(missing: readonly Need[]): Promise<void> {
  const has = (needs: readonly Need[]) => !needs.some((need) => missing.includes(need));
  const names = quickTargets.filter((name) => has(clientFrom(quickVersion, name).needs));
  await Promise.all([installNpmPackages(), has(["python"]) && installPythonPackages()]);
  await Promise.all([
    has(["python"]) && buildPythonClient(),
    has(["go"]) && buildByOapiCodegen(),
    names.length > 0 && buildClients(quickVersion, names),
  ]);
}

function buildPythonClient(): Promise<void> {
  return buildOnce(ofPythonClient.folder, async (folder) => {
    const generate = ["generate", "--meta", "none", "--fail-on-warning"];
    const program = join(pythonPrograms, "openapi-python-client");
    // openapi-python-client formats its output with ruff, which must be in PATH.
    const env = { PATH: `${pythonPrograms}:${process.env.PATH}` };
    const output = join(folder, "kibitz_client");
    await runProgram([program, ...generate, "--path", document, "--output-path", output], { env });
  });
}

async function buildByOapiCodegen(): Promise<void> {
  await buildOnce(oapiCodegen, async (folder) => {
    const program = `github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@${oapiCodegenVersion}`;
    await runProgram(["go", "install", program], { env: { GOBIN: folder } });
  });
  await buildOnce(ofOapiCodegen.folder, async (folder) => {
    const cwd = join(folder, "go");
    await cp(join(here, "go"), cwd, { recursive: true });
    await mkdir(join(cwd, "kibitz"));
    const options = ["-generate", "types,client", "-package", "kibitz"];
    const output = ["-o", join(cwd, "kibitz/kibitz.go")];
    await runProgram([join(oapiCodegen, "oapi-codegen"), ...options, ...output, document]);
    const build = ["go", "build", "-buildvcs=false", "-o", join(folder, "program"), "./oapi-codegen"];
    await runProgram(build, { cwd });
  });
}
