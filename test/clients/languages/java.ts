import { join } from "node:path";
import type { Language } from "../language.ts";
import { examplesOf, probeOf } from "../places.ts";
import { runProgram, tryProgram } from "../run-program.ts";

const jarOf = (folder: string, name: string) => join(folder, "target", `${name}.jar`);

/** grpc-java. */
export const java: Language = {
  name: "java",

  async missing() {
    const [, major = "0"] = /javac (\d+)/.exec((await tryProgram("javac", "-version")) ?? "") ?? [];
    if (Number(major) < 17) {
      return "JDK 17 or newer (Debian: apt-get install default-jdk-headless)";
    }
    return (await tryProgram("mvn", "--version")) === undefined
      ? "Maven 3.8 or newer (Debian: apt-get install maven)"
      : undefined;
  },

  async build() {
    // The probe is made of the example's code, so both are built in one run.
    await runProgram(["mvn", "--batch-mode", "--no-transfer-progress", "package"], { cwd: probeOf("java") });
  },

  examples: [
    {
      name: "java: grpc-java",
      command: ["java", "-jar", jarOf(examplesOf("java"), "kibitz-example")],
      cwd: examplesOf("java"),
    },
  ],

  probes: [
    {
      name: "java-grpc",
      command: ["java", "-jar", jarOf(join(probeOf("java"), "probe"), "probe")],
      cwd: probeOf("java"),
    },
  ],
};
