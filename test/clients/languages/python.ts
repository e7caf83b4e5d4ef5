import { copyFile, readFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import type { Language } from "../language.ts";
import { buf, cacheOf, examplesOf, probeOf } from "../places.ts";
import { runProgram } from "../run-program.ts";

const cwd = examplesOf("python");
const environment = join(cacheOf("python"), "venv");
const interpreter = join(environment, "bin/python");
const required = join(cwd, "requirements.txt");
const installed = join(environment, "requirements.txt");

/** grpcio, and plain JSON with requests. */
export const python: Language = {
  name: "python",

  needs: ["python"],

  async build() {
    if ((await readFile(required, "utf8")) !== (await readFile(installed, "utf8").catch(() => undefined))) {
      await runProgram(["python3", "-m", "venv", "--clear", environment]);
      await runProgram([interpreter, "-m", "pip", "install", "--quiet", "--requirement", required]);
      await copyFile(required, installed);
    }
    // The template says `python`, as in an environment that is activated.
    const env = { PATH: [join(environment, "bin"), process.env.PATH].join(delimiter) };
    await runProgram([buf, "generate", "--template", "buf.gen.python.yaml"], { cwd, env });
  },

  examples: [
    { name: "python: grpcio", command: [interpreter, "grpc_client.py"], cwd },
    { name: "python: JSON with requests", command: [interpreter, "json_client.py"], cwd },
  ],

  probes: [
    {
      name: "python-grpc",
      command: [interpreter, join(probeOf("python"), "grpc_probe.py")],
      cwd,
      env: { PYTHONPATH: cwd },
    },
  ],
};
