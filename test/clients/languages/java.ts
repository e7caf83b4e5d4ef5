import { join } from "node:path";
import { buildIfStale } from "../build-if-stale.ts";
import type { Language } from "../language.ts";
import { cacheOf, examplesOf, probeOf, protoFiles } from "../places.ts";
import { runProgram } from "../run-program.ts";

const example = examplesOf("java");
const probe = probeOf("java");
const exampleJar = join(example, "target/kibitz-example.jar");
const probeJar = join(probe, "probe/target/probe.jar");

/** grpc-java. */
export const java: Language = {
  name: "java",

  needs: ["jdk", "maven"],

  async build() {
    const ownFiles = "{pom.xml,*.yaml,probe/pom.xml,**/src/**/*.java}";
    await buildIfStale({
      stamp: join(cacheOf("java"), "built"),
      sources: [protoFiles, join(example, ownFiles), join(probe, ownFiles)],
      products: [exampleJar, probeJar],
      // The probe is made of the example's code, so both are built in one run.
      async build() {
        await runProgram(["mvn", "--batch-mode", "--no-transfer-progress", "package"], { cwd: probe });
      },
    });
  },

  examples: [{ name: "java: grpc-java", command: ["java", "-jar", exampleJar], cwd: example }],

  probes: [{ name: "java-grpc", command: ["java", "-jar", probeJar], cwd: probe }],
};
