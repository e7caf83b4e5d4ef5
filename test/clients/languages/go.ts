import { join } from "node:path";
import type { Language } from "../language.ts";
import { buf, cacheOf, examplesOf, probeOf } from "../places.ts";
import { runProgram, tryProgram } from "../run-program.ts";

const cwd = examplesOf("go");
const binary = (name: string) => join(cacheOf("go"), name);

/** connect-go and grpc-go. */
export const go: Language = {
  name: "go",

  async missing() {
    // From 1.21 on, go fetches the version that go.mod asks for.
    const [, minor = "0"] = /go1\.(\d+)/.exec((await tryProgram("go", "version")) ?? "") ?? [];
    return Number(minor) >= 21 ? undefined : "Go 1.21 or newer (https://go.dev/dl)";
  },

  async build() {
    await runProgram([buf, "generate", "--template", "buf.gen.go.yaml"], { cwd });
    const build = ["go", "build", "-buildvcs=false", "-o"];
    await runProgram([...build, binary(""), "./connect", "./grpc"], { cwd });
    await runProgram([...build, binary("probe"), "."], { cwd: probeOf("go") });
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
