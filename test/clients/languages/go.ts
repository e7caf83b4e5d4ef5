import { join } from "node:path";
import type { Language } from "../language.ts";
import { buf, cacheOf, examplesOf, probeOf } from "../places.ts";
import { runProgram } from "../run-program.ts";

const cwd = examplesOf("go");
const binary = (name: string) => join(cacheOf("go"), name);

/** Calls without end, by grpc-go: for the tests of many nodes. */
export const goTraffic = binary("traffic");

/** connect-go and grpc-go. */
export const go: Language = {
  name: "go",

  needs: ["go"],

  async build() {
    await runProgram([buf, "generate", "--template", "buf.gen.go.yaml"], { cwd });
    const build = ["go", "build", "-buildvcs=false", "-o"];
    await runProgram([...build, binary(""), "./connect", "./grpc"], { cwd });
    await runProgram([...build, binary("probe"), "."], { cwd: probeOf("go") });
    await runProgram([...build, goTraffic, "./traffic"], { cwd: probeOf("go") });
  },

  examples: [
    { name: "go: connect-go", command: [binary("connect")], cwd },
    { name: "go: grpc-go", command: [binary("grpc")], cwd },
  ],

  probes: [
    { name: "go-connect", command: [binary("probe"), "connect"], cwd },
    { name: "go-grpc", command: [binary("probe"), "grpc"], cwd },
  ],
};
