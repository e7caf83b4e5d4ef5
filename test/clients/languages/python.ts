import { delimiter, join } from "node:path";
import { buildOnce, copySources, sourcesOf } from "../../support/build-once.ts";
import type { Language } from "../language.ts";
import { buf, placeOf } from "../places.ts";
import { runProgram } from "../run-program.ts";

const place = placeOf("python");
const cwd = place.example;
const environment = sourcesOf("client-python-venv", "examples/python/requirements.txt");
const interpreter = join(environment.folder, "bin/python");

export const python: Language = {
  name: "python",

  needs: ["python"],

  async build() {
    await buildOnce(environment.folder, async (folder) => {
      await copySources(environment, folder);
      await runProgram(["python3", "-m", "venv", folder]);
      const required = join(folder, "examples/python/requirements.txt");
      await runProgram([
        join(folder, "bin/python"),
        "-m",
        "pip",
        "install",
        "--quiet",
        "--requirement",
        required,
      ]);
    });
    await buildOnce(place.folder, async (folder) => {
      await copySources(place, folder);
      // The template of buf calls `python`, as in an activated environment.
      const env = { PATH: [join(environment.folder, "bin"), process.env.PATH].join(delimiter) };
      await runProgram([buf, "generate", "--template", "buf.gen.python.yaml"], {
        cwd: join(folder, "examples/python"),
        env,
      });
    });
  },

  examples: [
    { name: "python: grpcio", command: [interpreter, "grpc_client.py"], cwd },
    { name: "python: JSON with requests", command: [interpreter, "json_client.py"], cwd },
  ],

  probes: [
    {
      name: "python-grpc",
      command: [interpreter, join(place.probe, "grpc_probe.py")],
      cwd,
      env: { PYTHONPATH: cwd },
    },
  ],
};
