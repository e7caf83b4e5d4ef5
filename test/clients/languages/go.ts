import { join } from "node:path";
import { buildOnce, copySources } from "../../support/build-once.ts";
import type { Language } from "../language.ts";
import { buf, placeOf } from "../places.ts";
import { runProgram } from "../run-program.ts";

const place = placeOf("go");
const cwd = place.example;
const binary = (name: string) => join(place.folder, "bin", name);

export const goTraffic = binary("traffic");

export const go: Language = {
  name: "go",

  needs: ["go"],

  build: () =>
    buildOnce(place.folder, async (folder) => {
      await copySources(place, folder);
      const [example, probe, bin] = [
        join(folder, "examples/go"),
        join(folder, "test/clients/go"),
        join(folder, "bin/"),
      ];
      await runProgram([buf, "generate", "--template", "buf.gen.go.yaml"], { cwd: example });
      const build = ["go", "build", "-buildvcs=false", "-o"];
      await runProgram([...build, bin, "./connect", "./grpc"], { cwd: example });
      await runProgram([...build, bin, ".", "./traffic"], { cwd: probe });
    }),

  examples: [
    { name: "go: connect-go", command: [binary("connect")], cwd },
    { name: "go: grpc-go", command: [binary("grpc")], cwd },
  ],

  probes: [
    { name: "go-connect", command: [binary("probe"), "connect"], cwd },
    { name: "go-grpc", command: [binary("probe"), "grpc"], cwd },
  ],
};
